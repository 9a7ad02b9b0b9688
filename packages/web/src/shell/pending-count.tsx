/** How many requests wait for this person, over all conversations and whatever the list is filtered by. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Inbox } from "interlock-client/inbox";
import { useEffect, useState } from "react";
import { useFormatter } from "use-intl";
import { useLiveEvents, useOpening } from "@/api/live-context";
import { get } from "@/api/transport";
import { setTitle } from "./document-title";
import { Pace } from "./pace";

const COUNT = ["pending-count"] as const;
/** In a rush the server is asked once in so many milliseconds. */
const RUSH = 1_000;
const MOST = 10_000;

/** `null` while it is not known. */
export function usePendingCount(): number | null {
  const isAwaited = useOpening() === null;
  const count = useQuery({
    queryKey: COUNT,
    enabled: !isAwaited,
    queryFn: async ({ signal }) => (await get<Inbox>("/api/v1/inbox", { limit: 1, drills: true }, signal)).total,
  });
  return count.data ?? null;
}

/** Keeps the count true; once on a page. The server counts: what it told may have been lost, or told twice. */
export function PendingCounter() {
  const client = useQueryClient();
  const [pace] = useState(() => new Pace(RUSH, () => void client.invalidateQueries({ queryKey: COUNT })));
  useEffect(() => pace.stop, [pace]);
  useLiveEvents((event) => {
    if (event.type !== "looking" && event.type !== "extended") pace.ask();
  });
  return null;
}

/** The server counts no further than to `MOST`. */
export function useSpelledCount(): (count: number) => string {
  const format = useFormatter();
  return (count) => (count >= MOST ? `${format.number(MOST)}+` : format.number(count));
}

/** "(3)" before the name of the page in the browser's tab. */
export function TitleBadge() {
  const spelled = useSpelledCount();
  const count = usePendingCount();
  const text = count ? spelled(count) : "";
  useEffect(() => {
    setTitle({ count: text });
    return () => setTitle({ count: "" });
  }, [text]);
  return null;
}
