import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { serverNow } from "@/api/clock";
import type { LiveEvent } from "@/api/live";
import { useLiveEvents, useOpening } from "@/api/live-context";
import { Pace } from "@/shell/pace";
import { type Filters, isServers, isWanted, searchOf } from "./filters";
import { changed, EMPTY, isKnown, type List } from "./list";
import { readClosing, readList, readPage } from "./reading";

/** So much is read before it is sorted by urgency: the server lists the oldest first. */
const AT_ONCE = 1_000;
/** Of what stands further down, what closes soon by now is looked for once in so many milliseconds. */
const LOOK_FOR_CLOSING = 60_000;
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
  useClosing(newest, change);
  useLiveEvents((event) => {
    const way = wayOf(event, newest.current);
    if (way === "now") reload.now();
    if (way === "soon") reload.soon();
    if (way === "told" || event.type === "claimed") change({ type: "told", event, now: serverNow() });
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

/** What an event is reason for: to be told of it, or to read the list again. */
function wayOf(event: LiveEvent, { list, filters }: Newest["current"]): "now" | "soon" | "told" | null {
  if (event.type === "hello") return null;
  if (event.type === "reset") return "now";
  if (event.type === "claimed") return filters.for === null ? "told" : "soon";
  if (!isNew(event, list)) return "told";
  // What a search finds, and what is whose, only the server knows.
  if (isServers(filters)) return "soon";
  return isWanted(event.entry, filters) ? "told" : null;
}

/** For whoever it is put to only now it is as if it had been asked now. */
function isNew(event: LiveEvent, list: List): event is Extract<LiveEvent, { type: "asked" | "routed" }> {
  return event.type === "asked" || (event.type === "routed" && !isKnown(list, event.entry.request_id));
}

type Dispatch = (change: Parameters<typeof changed>[1]) => void;

/** Read when the stream opens and when the filters change; the last one to begin is the one that counts. */
function useReload(newest: Newest, change: Dispatch, setError: (error: Error | null) => void) {
  const loading = useRef<AbortController | null>(null);
  const placedFor = useRef<string | null>(null);
  const read = useCallback(
    (isSoon: boolean) => {
      loading.current?.abort();
      const controller = new AbortController();
      loading.current = controller;
      const { list, filters } = newest.current;
      const search = searchOf(filters);
      const isPlaced = placedFor.current === search;
      const since = list.turn;
      readList(filters, Math.max(AT_ONCE, list.rows.length), controller.signal).then(
        (page) => {
          if (controller.signal.aborted) return;
          placedFor.current = search;
          setError(null);
          // What is not theirs any more may wait all the same; that it ended would have been told.
          const keeps = isSoon && filters.for !== null;
          change({ type: isPlaced ? "merged" : "placed", page, since, keeps, now: serverNow() });
        },
        (failure) => {
          // Rows that are there stay; that there is no connection stands in the bar.
          if (!controller.signal.aborted && !isPlaced) setError(errorOf(failure));
        },
      );
    },
    [newest, change, setError],
  );
  const now = useCallback(() => read(false), [read]);
  const search = searchOf(newest.current.filters);
  const opening = useOpening();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read anew for other filters
  useEffect(() => {
    if (opening === null) return;
    now();
    return () => loading.current?.abort();
  }, [now, search, opening]);
  const [pace] = useState(() => new Pace(RUSH, () => read(true)));
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
    readPage(filters, list.cursor)
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

/** Where not everything is listed, what comes to close soon is told as if it had been asked just now. */
function useClosing(newest: Newest, change: Dispatch): void {
  const isCut = newest.current.list.cursor !== null;
  const search = searchOf(newest.current.filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked for anew with other filters
  useEffect(() => {
    if (!isCut) return;
    const leaving = new AbortController();
    const look = async () => {
      const found = await readClosing(newest.current.filters, AT_ONCE, leaving.signal).catch(() => []);
      if (leaving.signal.aborted) return;
      for (const entry of found) change({ type: "told", event: { type: "asked", entry }, now: serverNow() });
    };
    const timer = setInterval(look, LOOK_FOR_CLOSING);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, [isCut, search, newest, change]);
}

function useNewest<T>(value: T): { readonly current: T } {
  const newest = useRef(value);
  newest.current = value;
  return newest;
}

function errorOf(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
