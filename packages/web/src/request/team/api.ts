/** What people do with a request beside answering it. What comes of it is read again: the server knows what it is to whom. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Claimed, Comment, Comments, FoundPeople, Released, Routed, VoteWithdrawn } from "interlock-client/inbox";
import { callOnce, get, post } from "@/api/transport";
import { useAct } from "@/api/use-act";
import { addressOf, requestKey } from "../api/use-request";

export const LONGEST_COMMENT = 4_000;

export function commentsKey(id: string) {
  return [...requestKey(id), "comments"] as const;
}

function useTeamAct<Given, Got>(id: string, mutationFn: (given: Given) => Promise<Got>) {
  const client = useQueryClient();
  return useAct({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: requestKey(id) }) });
}

export function useClaim(id: string) {
  return useTeamAct<void, Claimed>(id, () => post(`${addressOf(id)}/claim`));
}

export function useRelease(id: string) {
  return useTeamAct<void, Released>(id, () => post(`${addressOf(id)}/release`));
}

/** Once: a second time there is no yes left to take back. */
export function useTakeBack(id: string) {
  return useTeamAct<void, VoteWithdrawn>(id, () => callOnce({ method: "DELETE", path: `${addressOf(id)}/vote` }));
}

export function usePassOn(id: string) {
  return useTeamAct<{ to: string; note: string }, Routed>(id, (body) => post(`${addressOf(id)}/delegate`, body));
}

/** Sent once: nobody says the same twice because a reply was lost. */
export function useSay(id: string) {
  return useTeamAct<{ text: string }, Comment>(id, (body) =>
    callOnce({ method: "POST", path: `${addressOf(id)}/comments`, body }),
  );
}

export function useComments(id: string) {
  return useQuery({
    queryKey: commentsKey(id),
    queryFn: async ({ signal }) => (await get<Comments>(`${addressOf(id)}/comments`, {}, signal)).comments,
  });
}

/** Names of people who may sign in, 20 at most. */
export function useNames(wanted: string) {
  return useQuery({
    queryKey: ["names", wanted],
    queryFn: async ({ signal }) => (await get<FoundPeople>("/api/v1/people/names", { q: wanted }, signal)).people,
    placeholderData: (before) => before,
  });
}
