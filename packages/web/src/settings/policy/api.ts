/** Policies: looked at, checked, tried on what is on record, saved, and what counts. For admins. */
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import type {
  ActivePolicy,
  PolicyCheck,
  PolicyHistory,
  PolicyShadow,
  PolicyVersion,
  ReplayReport,
  SavedPolicyVersion,
  ShadowReport,
} from "interlock-client/wire";
import { api, get, post } from "@/api/transport";
import { useAct } from "@/api/use-act";

const POLICY = "/api/v1/policy";
const KEY = ["settings", "policy"] as const;
/** A replay looks at up to so many requests, and may take that long. */
const MOST = 10_000;
const REPLAY_MS = 300_000;

export function useHistory() {
  return useQuery({
    queryKey: [...KEY, "history"],
    queryFn: ({ signal }) => get<PolicyHistory>(POLICY, { limit: 200 }, signal),
  });
}

function versionQuery(number: number | null) {
  return queryOptions({
    queryKey: [...KEY, "version", number],
    enabled: number !== null,
    // It never changes.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => get<PolicyVersion>(`${POLICY}/versions/${number}`, {}, signal),
  });
}

export function useVersion(number: number | null) {
  return useQuery(versionQuery(number));
}

/** The text of a version, to be written on. */
export function useOpen() {
  const client = useQueryClient();
  return useAct({ mutationFn: (number: number) => client.fetchQuery(versionQuery(number)) });
}

/** The last text that was given is the one that is answered for: another key is another question. */
export function useCheck(text: string) {
  return useQuery<PolicyCheck>({
    queryKey: [...KEY, "check", text],
    enabled: text.trim() !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
    // What is wrong stays in view until the next answer is there.
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const call = { method: "POST", path: `${POLICY}/check`, body: { text }, repeatable: true, signal } as const;
      return (await api().fetch(call)) as unknown as PolicyCheck;
    },
  });
}

export function useShadowReport(number: number) {
  return useQuery({
    queryKey: [...KEY, "shadow", number],
    queryFn: ({ signal }) => get<ShadowReport>(`${POLICY}/versions/${number}/shadow`, {}, signal),
  });
}

export function useReplay() {
  return useAct({
    mutationFn: async (text: string) => {
      const body = { text, limit: MOST };
      const call = { method: "POST", path: `${POLICY}/replay`, body, repeatable: true, holds: REPLAY_MS } as const;
      return (await api().fetch(call)) as unknown as ReplayReport;
    },
  });
}

function useReread() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: KEY });
}

export function useSave() {
  return useAct({
    mutationFn: (draft: { text: string; note: string }) => post<SavedPolicyVersion>(`${POLICY}/versions`, draft),
    onSuccess: useReread(),
  });
}

export interface Change {
  /** None: no version. */
  to: number | null;
  /** What the person saw. */
  expected: number | null;
}

export function useActivate() {
  const reread = useReread();
  return useAct({
    mutationFn: ({ to, expected }: Change) =>
      post<ActivePolicy>(to === null ? `${POLICY}/deactivate` : `${POLICY}/versions/${to}/activate`, { expected }),
    onSettled: reread,
  });
}

export function useShadow() {
  const reread = useReread();
  return useAct({
    mutationFn: ({ to, expected }: Change) =>
      post<PolicyShadow>(to === null ? `${POLICY}/shadow/off` : `${POLICY}/versions/${to}/shadow`, { expected }),
    onSettled: reread,
  });
}
