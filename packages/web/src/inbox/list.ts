/**
 * The list as a person sees it. What happens on the server changes rows where they stand: it never moves, removes or
 * inserts one. Newcomers wait until they are asked for, and what ended stays until the person leaves.
 */
import type { Claim, InboxEntry, People } from "interlock-client/inbox";
import type { LiveEvent } from "@/api/live";
import { type Ending, endingOf } from "./endings";
import { type Group, groupOf, inOrder } from "./groups";

/** For how long somebody counts as looking after it was last said. */
const LOOKS_FOR = 20_000;

export interface Row {
  entry: InboxEntry;
  group: Group;
  ending: Ending | null;
  /** Until when those who look at it do. */
  lookedUntil: number;
  /** After how many events it came: a page that was read before knows nothing of it. */
  turn: number;
}

export interface List {
  isPlaced: boolean;
  rows: readonly Row[];
  newcomers: readonly Row[];
  /** What ended since the last page was read, shown or not: a page that was read before may still have it. */
  endings: ReadonlyMap<string, { ending: Ending; turn: number }>;
  cursor: string | null;
  total: number;
  /** How many events came. */
  turn: number;
}

/** One page of what waits, or several in a row, the oldest first. */
export interface Page {
  entries: readonly InboxEntry[];
  cursor: string | null;
  total: number;
}

export type Change =
  /** The list is opened, or filtered otherwise. `since`: the turn at which the page was asked for. */
  | { type: "placed"; page: Page; since: number; now: number }
  /** The same again, because events were lost. `keeps`: what is not there need not have ended. */
  | { type: "merged"; page: Page; since: number; keeps?: boolean; now: number }
  | { type: "more"; page: Page; now: number }
  | { type: "shown"; now: number }
  /** What ended is taken away. */
  | { type: "tidied"; now: number }
  | { type: "told"; event: LiveEvent; now: number };

export const EMPTY: List = {
  isPlaced: false,
  rows: [],
  newcomers: [],
  endings: new Map(),
  cursor: null,
  total: 0,
  turn: 0,
};

export function changed(list: List, change: Change): List {
  switch (change.type) {
    case "placed":
      return placed(list, change);
    case "merged":
      return merged(list, change);
    case "more":
      return withMore(list, change);
    case "shown":
      return regrouped({ ...list, rows: [...list.rows, ...list.newcomers], newcomers: [] }, change.now);
    case "tidied":
      return regrouped({ ...list, rows: list.rows.filter((row) => !row.ending) }, change.now);
    case "told":
      return told({ ...list, turn: list.turn + 1 }, change.event, change.now);
  }
}

/** Whether looking at the list again would bring it into another order, or make it shorter. */
export function isUntidy(list: List, now: number): boolean {
  return list.rows.some((row) => row.ending !== null || groupOf(row.entry, now) !== row.group);
}

export function isWaiting(row: Row): boolean {
  return row.ending === null;
}

export function isKnown(list: List, id: string): boolean {
  return [...list.rows, ...list.newcomers].some((row) => row.entry.request_id === id);
}

type Read = Omit<Extract<Change, { type: "merged" }>, "type">;

function placed(list: List, { page, since, now }: Read): List {
  const listed = new Set(page.entries.map((entry) => entry.request_id));
  const found = page.entries.filter((entry) => !list.endings.has(entry.request_id));
  const late = list.newcomers.filter((row) => row.turn > since && !listed.has(row.entry.request_id));
  const rows = [...found.map((entry) => rowOf(entry, list.turn, now)), ...late];
  return regrouped({ ...list, ...read(list, page, since), isPlaced: true, rows, newcomers: [] }, now);
}

function merged(list: List, { page, since, keeps, now }: Read): List {
  const listed = new Map(page.entries.map((entry) => [entry.request_id, entry]));
  const isGone = ({ entry, turn }: Row) =>
    !keeps && !listed.has(entry.request_id) && turn <= since && isCovered(entry, page);
  const refreshed = (row: Row) => {
    const entry = listed.get(row.entry.request_id);
    return entry ? { ...row, entry, lookedUntil: now + LOOKS_FOR } : row;
  };
  const rows = list.rows.map((row): Row => {
    if (row.ending && row.ending.how !== "gone") return row;
    return isGone(row) ? { ...row, ending: { how: "gone", by: null } } : { ...refreshed(row), ending: null };
  });
  const known = new Set([...list.rows, ...list.newcomers].map((row) => row.entry.request_id));
  const found = page.entries.filter((entry) => !known.has(entry.request_id) && !list.endings.has(entry.request_id));
  const kept = list.newcomers.filter((row) => !isGone(row)).map(refreshed);
  const newcomers = [...kept, ...found.map((entry) => rowOf(entry, list.turn, now))];
  return admitted({ ...list, ...read(list, page, since), rows, newcomers }, now);
}

function withMore(list: List, { page, now }: { page: Page; now: number }): List {
  const listed = new Set(page.entries.map((entry) => entry.request_id));
  const known = new Set(list.rows.map((row) => row.entry.request_id));
  const found = page.entries.filter((entry) => !known.has(entry.request_id) && !list.endings.has(entry.request_id));
  const rows = [...list.rows, ...found.map((entry) => rowOf(entry, list.turn, now))];
  const newcomers = list.newcomers.filter((row) => !listed.has(row.entry.request_id));
  return regrouped({ ...list, rows, newcomers, cursor: page.cursor, total: page.total }, now);
}

function told(list: List, event: LiveEvent, now: number): List {
  switch (event.type) {
    case "asked":
      return asked(list, event.entry, now);
    case "settled": {
      const { request_id: id } = event.settled;
      const row = [...list.rows, ...list.newcomers].find((one) => one.entry.request_id === id);
      return ended(list, id, endingOf(event.settled, row?.entry.kind === "approval"));
    }
    case "deleted":
      return deleted(list, event.conversationId);
    case "extended":
      return updated(list, event.requestId, (row) => ({
        ...row,
        entry: { ...row.entry, expires_at: event.expiresAt },
      }));
    case "looking":
      return updated(list, event.requestId, (row) => ({
        ...row,
        entry: { ...row.entry, looking: event.names },
        lookedUntil: now + LOOKS_FOR,
      }));
    case "voted":
      return updated(list, event.requestId, (row) => withPeople(row, { votes: event.votes }));
    case "claimed":
      return updated(list, event.requestId, (row) => withPeople(row, { claim: claimOf(event) }));
    case "routed":
      if (!isKnown(list, event.entry.request_id)) return asked(list, event.entry, now);
      return updated(list, event.entry.request_id, (row) => withPeople(row, event.entry.people ?? {}));
    default:
      return list;
  }
}

function withPeople(row: Row, given: Partial<People>): Row {
  const { people } = row.entry;
  return people ? { ...row, entry: { ...row.entry, people: { ...people, ...given } } } : row;
}

/** Whose it is stands in its name: the event is the same for everybody. */
function claimOf({ by, until }: Extract<LiveEvent, { type: "claimed" }>): Claim | null {
  return by !== null && until !== null ? { by, until, mine: false } : null;
}

function asked(list: List, entry: InboxEntry, now: number): List {
  if (isKnown(list, entry.request_id) || list.endings.has(entry.request_id)) return list;
  return admitted({ ...list, newcomers: [...list.newcomers, rowOf(entry, list.turn, now)] }, now);
}

function deleted(list: List, conversationId: string): List {
  const gone = [...list.rows, ...list.newcomers].filter((row) => row.entry.conversation_id === conversationId);
  return gone.reduce((before, row) => ended(before, row.entry.request_id, { how: "deleted", by: null }), list);
}

function ended(list: List, id: string, ending: Ending): List {
  const endings = new Map(list.endings).set(id, { ending, turn: list.turn });
  // Nobody has seen it yet, so there is nothing that could vanish.
  const newcomers = list.newcomers.filter((row) => row.entry.request_id !== id);
  const isNews = (row: Row) => row.ending === null || row.ending.how === "gone";
  return updated({ ...list, endings, newcomers }, id, (row) => (isNews(row) ? { ...row, ending } : row));
}

function updated(list: List, id: string, change: (row: Row) => Row): List {
  const all = (rows: readonly Row[]) => rows.map((row) => (row.entry.request_id === id ? change(row) : row));
  return { ...list, rows: all(list.rows), newcomers: all(list.newcomers) };
}

/** Where nothing is on the screen, nothing can move. */
function admitted(list: List, now: number): List {
  if (!list.isPlaced || list.rows.length > 0 || list.newcomers.length === 0) return list;
  return regrouped({ ...list, rows: list.newcomers, newcomers: [] }, now);
}

/** What ended keeps the place that it had among the others. */
function regrouped(list: List, now: number): List {
  const rows = list.rows.map((row) => (row.ending ? row : { ...row, group: groupOf(row.entry, now) }));
  return { ...list, rows: inOrder(rows) };
}

/** What a page tells beside its entries. Endings from before it was asked for are known to it. */
function read(list: List, page: Page, since: number): Pick<List, "cursor" | "total" | "endings"> {
  const endings = new Map([...list.endings].filter(([, { turn }]) => turn > since));
  return { cursor: page.cursor, total: page.total, endings };
}

/** Whether the page reaches as far as this entry: what it does not have is not there. */
function isCovered(entry: InboxEntry, page: Page): boolean {
  const last = page.entries.at(-1);
  if (page.cursor === null || !last) return page.cursor === null;
  return Date.parse(entry.created_at) < Date.parse(last.created_at);
}

function rowOf(entry: InboxEntry, turn: number, now: number): Row {
  return { entry, group: groupOf(entry, now), ending: null, lookedUntil: now + LOOKS_FOR, turn };
}
