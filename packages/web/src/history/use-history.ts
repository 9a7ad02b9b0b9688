import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { History, HistoryEntry } from "interlock-client/inbox";
import { useLiveEvents } from "@/api/live-context";
import { get } from "@/api/transport";
import { type Filters, queryOf } from "./filters";

const PAGE = 50;
const HISTORY = ["history", "entries"] as const;

export function useHistory(filters: Filters) {
  const client = useQueryClient();
  useLiveEvents((event) => {
    // The first page only grows at its top, and nobody's place in it moves before they look.
    if (event.type === "hello") void client.invalidateQueries({ queryKey: HISTORY });
  });
  return useInfiniteQuery({
    queryKey: [...HISTORY, filters],
    queryFn: ({ pageParam, signal }) =>
      get<History>("/api/v1/history", { ...queryOf(filters), limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    // What was decided meanwhile belongs on a page that is opened now.
    staleTime: 0,
  });
}

export function entriesIn(data: InfiniteData<History> | undefined): HistoryEntry[] {
  return data?.pages.flatMap((page) => page.entries) ?? [];
}
