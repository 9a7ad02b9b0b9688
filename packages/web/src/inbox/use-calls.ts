import { useQueries, useQueryClient } from "@tanstack/react-query";
import type { InboxEntry, InboxRequest } from "interlock-client/inbox";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useLiveEvents } from "@/api/live-context";
import { get } from "@/api/transport";
import { deliveries } from "@/request/api/deliveries";
import { addressOf, changedBy, requestKey } from "@/request/api/use-request";
import type { Call } from "./batch";

/** The calls of a batch, each as it is now. */
export function useCalls(entries: readonly InboxEntry[]): Call[] {
  const client = useQueryClient();
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  useDeliveries(entries);
  const queries = useQueries({
    queries: entries.map(({ request_id: id }) => ({
      queryKey: requestKey(id),
      refetchOnMount: "always" as const,
      queryFn: ({ signal }: { signal: AbortSignal }) => get<InboxRequest>(addressOf(id), {}, signal),
    })),
  });
  const readAgain = () => {
    deliveries.hurry();
    for (const query of queries) void query.refetch();
  };
  useLiveEvents((event) => {
    if (event.type === "deleted") setDeleted((before) => new Set([...before, event.conversationId]));
    if (event.type === "hello" || event.type === "reset") readAgain();
    for (const { request_id: id } of entries) {
      client.setQueryData<InboxRequest>(requestKey(id), (before) => before && changedBy(before, event));
    }
  });
  return entries.map((entry, place) => ({
    entry,
    request: queries[place]?.data ?? null,
    error: queries[place]?.error ?? null,
    isDeleted: deleted.has(entry.conversation_id),
    delivery: deliveries.get(entry.request_id),
  }));
}

/** Draws again when one of them has come further, and leaves nothing of what was seen behind. */
function useDeliveries(entries: readonly InboxEntry[]): void {
  const states = () => entries.map((entry) => deliveries.get(entry.request_id)?.state ?? "").join();
  useSyncExternalStore(deliveries.watch, states);
  useEffect(
    () => () => {
      for (const entry of entries) deliveries.forget(entry.request_id);
    },
    [entries],
  );
}
