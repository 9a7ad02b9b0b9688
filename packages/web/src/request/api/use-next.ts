import { useQuery } from "@tanstack/react-query";
import type { Inbox, InboxRequest } from "interlock-client/inbox";
import { get } from "@/api/transport";
import { usePendingCount } from "@/shell/pending-count";

export interface Next {
  id: string | null;
  /** How many wait, as far as the server counts. */
  count: number;
}

/** The one that has waited longest of what still waits; null while that is not known. */
export function useNext({ request_id: id }: InboxRequest): Next | null {
  // Whatever is asked or settled changes the count.
  const pending = usePendingCount();
  const next = useQuery({
    queryKey: ["next-request", id, pending],
    queryFn: async ({ signal }): Promise<Next> => {
      const { requests, total } = await get<Inbox>("/api/v1/inbox", { limit: 2, drills: true }, signal);
      return { id: requests.find((one) => one.request_id !== id)?.request_id ?? null, count: total };
    },
    placeholderData: (before) => before,
    gcTime: 0,
  });
  return next.data ?? null;
}
