/** The person's own account: the password, and where they are signed in. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { segment } from "interlock-client/transport";
import type { ChangePassword, Ended, IdentityList, SessionsEnded, SignInList } from "interlock-client/wire";
import { forgetPerson } from "@/api/session";
import { tellTabs } from "@/api/tabs";
import { callOnce, get, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

const SESSIONS = ["settings", "sessions"] as const;

export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: ({ signal }) => get<SignInList>("/api/v1/account/sessions", {}, signal),
  });
}

const IDENTITIES = ["settings", "identities"] as const;

export function useIdentities() {
  return useQuery({
    queryKey: IDENTITIES,
    queryFn: ({ signal }) => get<IdentityList>("/api/v1/account/identities", {}, signal),
  });
}

export function useUnlink() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (id: string) => remove<Ended>(`/api/v1/account/identities/${segment(id)}`),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: SESSIONS });
      return client.invalidateQueries({ queryKey: IDENTITIES });
    },
  });
}

export function useChangePassword() {
  const client = useQueryClient();
  return useAct({
    // Sent once: a second one would find the first one's password.
    mutationFn: (body: ChangePassword) =>
      callOnce<SessionsEnded>({ method: "POST", path: "/api/v1/account/password", body: { ...body } }),
    onSettled: () => client.invalidateQueries({ queryKey: SESSIONS }),
    // Passwords are not kept longer than the form has them.
    gcTime: 0,
  });
}

export function useEndSession() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (id: string) => remove<Ended>(`/api/v1/account/sessions/${segment(id)}`),
    onSettled: () => client.invalidateQueries({ queryKey: SESSIONS }),
  });
}

export function useEndOthers() {
  const client = useQueryClient();
  return useAct({
    // Sent once, as a new password is: what comes back is the cookie to go on with.
    mutationFn: () =>
      callOnce<SessionsEnded>({ method: "DELETE", path: "/api/v1/account/sessions", query: { others: true } }),
    onSettled: () => client.invalidateQueries({ queryKey: SESSIONS }),
  });
}

export function useEndAll() {
  const client = useQueryClient();
  return useAct({
    mutationFn: () => remove<SessionsEnded>("/api/v1/account/sessions"),
    onSuccess: () => {
      forgetPerson(client);
      tellTabs("left");
    },
  });
}
