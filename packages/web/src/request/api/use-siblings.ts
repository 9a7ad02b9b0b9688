import { useQueries, useQueryClient } from "@tanstack/react-query";
import type { InboxRequest } from "interlock-client/inbox";
import { useLiveEvents } from "@/api/live-context";
import { get } from "@/api/transport";
import { openAfter } from "../model/siblings";
import { addressOf, changedBy, requestKey } from "./use-request";

/** The next of the same pause that can still be answered; null where there is none, or where that is not known yet. */
export function useOpenSibling(request: InboxRequest): string | null {
  const client = useQueryClient();
  const others = request.siblings.filter((id) => id !== request.request_id);
  const read = useQueries({
    queries: others.map((id) => ({
      queryKey: requestKey(id),
      refetchOnMount: "always" as const,
      queryFn: ({ signal }: { signal: AbortSignal }) => get<InboxRequest>(addressOf(id), {}, signal),
    })),
  });
  useLiveEvents((event) => {
    for (const id of others) {
      client.setQueryData<InboxRequest>(requestKey(id), (before) => before && changedBy(before, event));
    }
  });
  const isOpen = (id: string) => read[others.indexOf(id)]?.data?.status === "pending";
  return openAfter(request, isOpen);
}
