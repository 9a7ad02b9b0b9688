/** The people of this server, for its admins. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { segment } from "interlock-client/transport";
import type { Ended, IdentityEntry, NewRole, PeopleList, PersonDeleted, PersonEntry } from "interlock-client/wire";
import { SESSION } from "@/api/session";
import { get, post, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

const PEOPLE = ["settings", "people"] as const;

export function usePeople() {
  return useQuery({
    queryKey: PEOPLE,
    queryFn: ({ signal }) => get<PeopleList>("/api/v1/people", {}, signal),
  });
}

/** What the list shows, and what this person may do, may be another now. */
function useReread() {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: SESSION });
    return client.invalidateQueries({ queryKey: PEOPLE });
  };
}

function pathOf(person: PersonEntry): string {
  return `/api/v1/people/${segment(person.user_id)}`;
}

export function useSetRole(person: PersonEntry) {
  return useAct({
    mutationFn: (role: NewRole) => post<PersonEntry>(`${pathOf(person)}/role`, role),
    onSuccess: useReread(),
  });
}

export function useSetAllowed(person: PersonEntry) {
  return useAct({
    mutationFn: (allowed: boolean) => post<PersonEntry>(`${pathOf(person)}/access`, { allowed }),
    onSuccess: useReread(),
  });
}

export function useLink(person: PersonEntry) {
  return useAct({
    mutationFn: (subject: string) => post<IdentityEntry>(`${pathOf(person)}/identities`, { subject }),
    onSuccess: useReread(),
  });
}

export function useUnlinkOf(person: PersonEntry) {
  return useAct({
    mutationFn: (id: string) => remove<Ended>(`${pathOf(person)}/identities/${segment(id)}`),
    onSuccess: useReread(),
  });
}

export function useDeletePerson(person: PersonEntry) {
  return useAct({
    mutationFn: () => remove<PersonDeleted>(pathOf(person)),
    onSuccess: useReread(),
  });
}
