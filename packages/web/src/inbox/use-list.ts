import type { Inbox, InboxEntry } from "interlock-client/inbox";
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { serverNow, setServerTime } from "@/api/clock";
import { useLiveEvents, useOpening } from "@/api/live-context";
import { get } from "@/api/transport";
import { Pace } from "@/shell/pace";
import { type Filters, isWanted, searchOf } from "./filters";
import { changed, EMPTY, type List, type Page } from "./list";

const PAGE = 200;
/** The server lists the oldest first, but what closes first may have come last: so much is read before it is sorted. */
const AT_ONCE = 1_000;
/** In a rush the list is read once in so many milliseconds. */
const RUSH = 1_000;

export interface Listing {
  list: List;
  /** Why the list, or more of it, could not be read. */
  error: Error | null;
  isLoadingMore: boolean;
  show: () => void;
  tidy: () => void;
  more: () => void;
  retry: () => void;
}

/** The list that these filters leave, kept true by what the server tells. */
export function useList(filters: Filters): Listing {
  const [list, change] = useReducer(changed, EMPTY);
  const newest = useNewest({ list, filters });
  const [error, setError] = useState<Error | null>(null);
  const reload = useReload(newest, change, setError);
  const { more, isLoadingMore } = useMore(newest, change, setError);
  useLiveEvents((event) => {
    if (event.type === "hello") return;
    if (event.type === "reset") return reload.now();
    if (event.type !== "asked") return change({ type: "told", event, now: serverNow() });
    // What a search finds only the server knows.
    if (newest.current.filters.q) reload.soon();
    else if (isWanted(event.entry, newest.current.filters)) change({ type: "told", event, now: serverNow() });
  });
  return {
    list,
    error,
    isLoadingMore,
    more,
    show: useCallback(() => change({ type: "shown", now: serverNow() }), []),
    tidy: useCallback(() => change({ type: "tidied", now: serverNow() }), []),
    retry: reload.now,
  };
}

type Newest = { readonly current: { list: List; filters: Filters } };
type Dispatch = (change: Parameters<typeof changed>[1]) => void;

/** Read when the stream opens and when the filters change; the last one to begin is the one that counts. */
function useReload(newest: Newest, change: Dispatch, setError: (error: Error | null) => void) {
  const loading = useRef<AbortController | null>(null);
  const placedFor = useRef<string | null>(null);
  const now = useCallback(() => {
    loading.current?.abort();
    const controller = new AbortController();
    loading.current = controller;
    const { list, filters } = newest.current;
    const search = searchOf(filters);
    const isPlaced = placedFor.current === search;
    const since = list.turn;
    pages(filters, Math.max(AT_ONCE, list.rows.length), controller.signal).then(
      (page) => {
        if (controller.signal.aborted) return;
        placedFor.current = search;
        setError(null);
        change({ type: isPlaced ? "merged" : "placed", page, since, now: serverNow() });
      },
      (failure) => {
        // Rows that are there stay; that there is no connection stands in the bar.
        if (!controller.signal.aborted && !isPlaced) setError(errorOf(failure));
      },
    );
  }, [newest, change, setError]);
  const search = searchOf(newest.current.filters);
  const opening = useOpening();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read anew for other filters
  useEffect(() => {
    if (opening === null) return;
    now();
    return () => loading.current?.abort();
  }, [now, search, opening]);
  const [pace] = useState(() => new Pace(RUSH, now));
  useEffect(() => pace.stop, [pace]);
  return { now, soon: pace.ask };
}

function useMore(newest: Newest, change: Dispatch, setError: (error: Error | null) => void) {
  const [isLoadingMore, setLoading] = useState(false);
  const more = useCallback(() => {
    const { list, filters } = newest.current;
    const search = searchOf(filters);
    if (list.cursor === null) return;
    setLoading(true);
    pageAt(filters, list.cursor)
      .then(
        (page) => {
          if (search !== searchOf(newest.current.filters)) return;
          setError(null);
          change({ type: "more", page, now: serverNow() });
        },
        (failure) => setError(errorOf(failure)),
      )
      .finally(() => setLoading(false));
  }, [newest, change, setError]);
  return { more, isLoadingMore };
}

/** As many pages as it takes to have `count` entries. */
async function pages(filters: Filters, count: number, signal: AbortSignal): Promise<Page> {
  const entries: InboxEntry[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page: Page = await pageAt(filters, cursor, signal);
    entries.push(...page.entries);
    cursor = page.cursor;
    if (cursor === null || entries.length >= count) return { ...page, entries };
  }
}

async function pageAt(filters: Filters, cursor: string | null, signal?: AbortSignal): Promise<Page> {
  const inbox = await get<Inbox>("/api/v1/inbox", { ...filters, cursor, limit: PAGE }, signal);
  setServerTime(inbox.server_time);
  return { entries: inbox.requests, cursor: inbox.next_cursor, total: inbox.total };
}

function useNewest<T>(value: T): { readonly current: T } {
  const newest = useRef(value);
  newest.current = value;
  return newest;
}

function errorOf(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
