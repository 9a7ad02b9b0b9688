/** Groups, for admins to change; those that single sign-on brings are changed there. */
import { useQueryClient } from "@tanstack/react-query";
import type { Group, GroupRemoved } from "interlock-client/inbox";
import { segment } from "interlock-client/transport";
import { GROUPS } from "@/api/groups";
import { callOnce, post, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

const PATH = "/api/v1/groups";

export interface Named {
  name: string;
  members: string[];
}

function useReread() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: GROUPS });
}

export function useCreateGroup() {
  return useAct({ mutationFn: (group: Named) => post<Group>(PATH, group), onSuccess: useReread() });
}

export function useSetMembers() {
  return useAct({
    mutationFn: ({ name, members }: Named) =>
      callOnce<Group>({ method: "PUT", path: `${PATH}/${segment(name)}`, body: { members } }),
    onSuccess: useReread(),
  });
}

export function useRemoveGroup() {
  return useAct({
    mutationFn: (name: string) => remove<GroupRemoved>(`${PATH}/${segment(name)}`),
    onSuccess: useReread(),
  });
}
