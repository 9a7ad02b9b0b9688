/** The list as the server tells it: page by page, the oldest first. */
import type { Inbox, InboxEntry } from "interlock-client/inbox";
import { setServerTime } from "@/api/clock";
import { get } from "@/api/transport";
import type { Filters } from "./filters";
import { SOON } from "./groups";
import type { Page } from "./list";

const PAGE = 200;

/** As many pages as it takes to have `count` entries. Where more wait, what closes soon is among them in any case. */
export async function readList(filters: Filters, count: number, signal?: AbortSignal): Promise<Page> {
  const page = await readPages(filters, count, signal);
  if (page.cursor === null) return page;
  const listed = new Set(page.entries.map((entry) => entry.request_id));
  const closing = (await readClosing(filters, count, signal)).filter((entry) => !listed.has(entry.request_id));
  return { ...page, entries: [...closing, ...page.entries] };
}

/** What closes soon, wherever in the list it stands. */
export async function readClosing(filters: Filters, count: number, signal?: AbortSignal): Promise<InboxEntry[]> {
  return [...(await readPages({ ...filters, closing_within: SOON / 1_000 }, count, signal)).entries];
}

type Query = Filters & { closing_within?: number };

async function readPages(query: Query, count: number, signal?: AbortSignal): Promise<Page> {
  const entries: InboxEntry[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page: Page = await readPage(query, cursor, signal);
    entries.push(...page.entries);
    cursor = page.cursor;
    if (cursor === null || entries.length >= count) return { ...page, entries };
  }
}

export async function readPage(query: Query, cursor: string | null, signal?: AbortSignal): Promise<Page> {
  const inbox = await get<Inbox>("/api/v1/inbox", { ...query, cursor, limit: PAGE, drills: true }, signal);
  setServerTime(inbox.server_time);
  return { entries: inbox.requests, cursor: inbox.next_cursor, total: inbox.total };
}
