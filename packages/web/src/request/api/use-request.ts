/** One request as it is now: read once, and kept true by the live stream. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { InboxRequest, Votes } from "interlock-client/inbox";
import { segment } from "interlock-client/transport";
import { useCallback, useMemo, useState } from "react";
import { setServerTime } from "@/api/clock";
import type { LiveEvent, Settled } from "@/api/live";
import { useLiveEvents } from "@/api/live-context";
import { get, post } from "@/api/transport";
import { deliveries } from "./deliveries";

const EVERY = 1_000;

export function requestKey(id: string) {
  return ["request", id] as const;
}

export function addressOf(id: string): string {
  return `/api/v1/inbox/requests/${segment(id)}`;
}

export function useRequest(id: string) {
  const client = useQueryClient();
  const [deleted, setDeleted] = useState<string | null>(null);
  const [ended, setEnded] = useState<Settled | null>(null);
  const query = useQuery<InboxRequest>({
    queryKey: requestKey(id),
    // Another page may have left it here some time ago.
    refetchOnMount: "always",
    // Each time that somebody is heard of counts, also with the same names.
    structuralSharing: false,
    // How a call ended that was allowed is in its conversation's log, of which the stream says nothing.
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? EVERY : false),
    queryFn: async ({ signal }) => told(await get<InboxRequest>(addressOf(id), {}, signal)),
  });
  const { refetch } = query;
  const change = useCallback(
    (changed: (request: InboxRequest) => InboxRequest) => {
      client.setQueryData<InboxRequest>(requestKey(id), (before) => before && changed(before));
    },
    [client, id],
  );
  useLiveEvents((event) => {
    if (event.type === "deleted" && event.conversationId === query.data?.conversation_id) setDeleted(id);
    if (event.type === "settled" && event.settled.request_id === id) setEnded(event.settled);
    if (event.type === "hello") deliveries.hurry();
    if (isOutdated(event, id)) void query.refetch();
    change((request) => changedBy(request, event));
  });
  const extend = useCallback(
    async (seconds: number) => {
      const extended = told(await post<InboxRequest>(`${addressOf(id)}/extend`, { seconds }));
      change(() => extended);
    },
    [id, change],
  );
  const counted = useCallback(
    (vote: "yes" | "no", votes: Votes | null) => {
      change((request) => withVotes(request, votes, vote));
      void refetch();
    },
    [change, refetch],
  );
  const request = useMemo(() => query.data && withEnd(query.data, ended), [query.data, ended]);
  return { request, query, extend, counted, isDeleted: deleted === id };
}

function isUnderWay(request: InboxRequest | undefined): boolean {
  return request?.result?.status === "waiting" || request?.result?.status === "running";
}

/** Of what was ended without an answer, only the event tells by whom; and it may have come before what was read sooner. */
function withEnd(request: InboxRequest, ended: Settled | null): InboxRequest {
  if (ended?.request_id !== request.request_id) return request;
  if (request.status === "pending") return changedBy(request, { type: "settled", settled: ended });
  if (request.status !== "cancelled") return request;
  const { answered_by, source } = request;
  return { ...request, answered_by: answered_by ?? ended.answered_by, source: source ?? ended.source };
}

function told(request: InboxRequest): InboxRequest {
  setServerTime(request.server_time);
  return request;
}

/** Whether what is known of the request may no longer be so, or not be all. */
function isOutdated(event: LiveEvent, id: string): boolean {
  switch (event.type) {
    case "settled":
      return event.settled.request_id === id;
    // Of these the event tells not all, or not what it is to this reader.
    case "voted":
    case "claimed":
      return event.requestId === id;
    case "routed":
      return event.entry.request_id === id;
    default:
      return event.type === "hello" || event.type === "reset";
  }
}

/** What the event itself tells is shown at once. */
export function changedBy(request: InboxRequest, event: LiveEvent): InboxRequest {
  const id = request.request_id;
  if (event.type === "settled" && event.settled.request_id === id) {
    const { status, answered_by, answered_at, source, value, reason = null } = event.settled;
    return { ...request, status, answered_by, answered_at, source, response: value, reason };
  }
  if (event.type === "extended" && event.requestId === id) return { ...request, expires_at: event.expiresAt };
  if (event.type === "looking" && event.requestId === id) return { ...request, looking: event.names };
  if (event.type === "voted" && event.requestId === id) return withVotes(request, event.votes);
  return request;
}

function withVotes(request: InboxRequest, votes: Votes | null, own?: "yes" | "no"): InboxRequest {
  const { people } = request;
  if (!people) return request;
  return { ...request, people: { ...people, votes: votes ?? people.votes, own_vote: own ?? people.own_vote } };
}
