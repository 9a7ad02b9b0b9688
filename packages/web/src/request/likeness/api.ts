/** Calls like the one that is shown, and a rule for them. Read after the request: what will run does not wait for it. */
import { useMutation, useQuery } from "@tanstack/react-query";
import type { PolicyDraft, Similar } from "interlock-client/inbox";
import { get, post } from "@/api/transport";
import { useAct } from "@/api/use-act";
import { addressOf } from "../api/use-request";

const POLICY = "/api/v1/policy";

/** As `POST /api/v1/policy/replay` answers. */
export interface Replay {
  looked_at: number;
  whole: boolean;
  asks_saved: number;
  rows: { happened: string; then: "allow" | "deny" | "ask"; count: number }[];
}

export function useSimilar(id: string, isWanted: boolean) {
  return useQuery({
    queryKey: ["similar", id],
    enabled: isWanted,
    // It is nothing that a person would wait for, or be told the lack of.
    retry: false,
    queryFn: ({ signal }) => get<Similar>(`${addressOf(id)}/similar`, {}, signal),
  });
}

export function useDraft(id: string) {
  return useQuery({
    queryKey: ["rule", id],
    retry: false,
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => get<PolicyDraft>(`${addressOf(id)}/rule`, {}, signal),
  });
}

/** Nothing is written by it. */
export function useReplay(text: string) {
  return useQuery({
    queryKey: ["replay", text],
    retry: false,
    gcTime: 0,
    queryFn: () => post<Replay>(`${POLICY}/replay`, { text }),
  });
}

export function useSave() {
  return useAct({
    mutationFn: ({ text, note }: { text: string; note: string }) =>
      post<{ version: number }>(`${POLICY}/versions`, { text, note }),
  });
}

/** Refused where another version counts by now than the one that the draft was made from. */
export function useActivate() {
  return useMutation({
    retry: false,
    mutationFn: ({ version, expected }: { version: number; expected: number | null }) =>
      post<{ active: number }>(`${POLICY}/versions/${version}/activate`, { expected }),
  });
}
