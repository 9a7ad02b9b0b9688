/** What a person manages of their own: looked at, and ended. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { segment } from "interlock-client/transport";
import type { Ended, GrantList, KeyList, KeyMade, KeyRole, SavedList } from "interlock-client/wire";
import { get, post, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

interface Lists {
  grants: GrantList;
  secrets: SavedList;
  keys: KeyList;
}

export type Listed = keyof Lists;

/** `everybody`: for an admin, not only one's own. */
export function useListed<L extends Listed>(name: L, everybody: boolean) {
  return useQuery({
    queryKey: ["settings", name, everybody],
    queryFn: ({ signal }) => get<Lists[L]>(`/api/v1/${name}`, { all: everybody }, signal),
  });
}

export function useEnd(name: Listed) {
  const client = useQueryClient();
  return useAct({
    mutationFn: (id: string) => remove<Ended>(`/api/v1/${name}/${segment(id)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings", name] }),
  });
}

export interface NewKey {
  name: string;
  role: KeyRole;
  agent: string | undefined;
  expires_at: string | undefined;
}

export function useMakeKey() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (key: NewKey) => post<KeyMade>("/api/v1/keys", key),
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings", "keys"] }),
    // Only this page has it: it is not kept longer than the page shows it.
    gcTime: 0,
  });
}
