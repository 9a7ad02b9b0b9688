import type { InboxEntry } from "interlock-client/inbox";
import type { LiveEvent, Settled } from "@/api/live";
import { changed, EMPTY, type List, type Page } from "@/inbox/list";

export const NOW = Date.parse("2026-03-01T12:00:00Z");

/** `created` and `expires` are minutes from now. */
export function entry(
  id: string,
  given: Partial<InboxEntry> & { created?: number; expires?: number } = {},
): InboxEntry {
  const { created = -10, expires, ...rest } = given;
  return {
    request_id: id,
    kind: "approval",
    conversation_id: `thread-${id}`,
    conversation_title: "Clean up",
    owner: "ann",
    outside: false,
    agent: "demo",
    tool: "read_file",
    display_name: null,
    headline: `read_file "${id}"`,
    risk: "low",
    created_at: moment(created),
    expires_at: expires === undefined ? null : moment(expires),
    pause_id: `pause-${id}`,
    position: 0,
    in_pause: 1,
    batchable: true,
    looking: [],
    ...rest,
  };
}

export function moment(minutes: number): string {
  return new Date(NOW + minutes * 60_000).toISOString();
}

export function page(entries: InboxEntry[], cursor: string | null = null): Page {
  return { entries, cursor, total: entries.length };
}

export function placed(...entries: InboxEntry[]): List {
  return changed(EMPTY, { type: "placed", page: page(entries), since: 0, now: NOW });
}

export function told(list: List, ...events: LiveEvent[]): List {
  return events.reduce((before, event) => changed(before, { type: "told", event, now: NOW }), list);
}

export function asked(one: InboxEntry): LiveEvent {
  return { type: "asked", entry: one };
}

export function settled(id: string, given: Partial<Settled> = {}): LiveEvent {
  return {
    type: "settled",
    settled: {
      request_id: id,
      conversation_id: `thread-${id}`,
      status: "answered",
      answered_by: "li",
      answered_at: moment(0),
      source: "web",
      value: { decision: "accept" },
      ...given,
    },
  };
}

export function ids(rows: List["rows"]): string[] {
  return rows.map((row) => row.entry.request_id);
}
