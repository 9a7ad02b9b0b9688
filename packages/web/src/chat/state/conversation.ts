/** What happens on a thread, taken in one by one: the history, the events of its stream, and what this page does itself. */
import type { ChatEvent, End, Interrupt } from "interlock-client/events";
import { aligned } from "./alignment";
import { type Conversation, EMPTY, type Item, lastTurn, placeOf, type Said, type Turn } from "./model";
import { withPiece } from "./texts";
import { withAllWaiting, withAnswer, withEnd, withNothingUnderWay, withPause, withStart } from "./tools";

/** An event, and when it came; `null` for what had happened before this page looked. */
export interface Told {
  event: ChatEvent;
  at: number | null;
}

export type Action =
  /** Begin anew, with the message that the thread was just begun with, if it was here. */
  | { type: "opened"; said: string | null }
  | { type: "history"; messages: readonly Said[] }
  | { type: "told"; events: readonly Told[] }
  /** A stream was opened, the first one or after a break. */
  | { type: "connected" }
  /** This page sends a message. */
  | { type: "said"; text: string }
  | { type: "sent" }
  /** Nobody knows yet whether it arrived. */
  | { type: "unsure" }
  | { type: "notSent" }
  /** What failed is being tried again. */
  | { type: "continued" }
  | { type: "stopping" }
  | { type: "notStopped" }
  | { type: "settled"; requestId: string }
  /** What waits no more, whatever was told of it. */
  | { type: "gone"; requestIds: readonly string[] };

export function conversed(before: Conversation, action: Action): Conversation {
  switch (action.type) {
    case "opened":
      return action.said === null ? EMPTY : begunWith(EMPTY, action.said);
    case "history":
      return withHistory(before, action.messages);
    case "told":
      return action.events.reduce(told, before);
    case "connected":
      return { ...before, isResumed: true, notice: null, failing: null };
    case "settled":
      return settled(before, action.requestId);
    case "gone":
      return withoutGone(before, action.requestIds);
    default:
      return done(before, action);
  }
}

/** What this page did itself. */
function done(before: Conversation, action: Exclude<Action, { type: "opened" | "history" | "told" }>): Conversation {
  switch (action.type) {
    case "said":
      return said(before, action.text);
    case "sent":
      return { ...before, turns: sentTurns(before) };
    case "unsure":
      return changeLast(before, { sent: "unsure" });
    case "notSent":
      return takenBack(before);
    case "continued":
      return { ...changeLast(before, { isOver: false }), phase: "running", isStopping: false };
    case "stopping":
      return { ...before, isStopping: true };
    case "notStopped":
      return { ...before, isStopping: false };
    default:
      return before;
  }
}

function told(before: Conversation, { event, at }: Told): Conversation {
  switch (event.type) {
    case "messages/partial": {
      const next = working(before, (items) => withPiece(items, event, before));
      return { ...next, token: placeOf(event.id) ?? before.token };
    }
    case "tool/start":
      return working(before, (items) => withStart(items, event, at));
    case "tool/end":
      // A refusal ends its call while others of the pause still wait.
      return inTurn(before, (items) => withEnd(items, event, at));
    case "interrupt":
      return paused(before, event);
    case "error":
      return { ...before, failing: event.message };
    case "end":
      return ended(before, event);
    default:
      return before;
  }
}

function working(before: Conversation, change: (items: readonly Item[]) => Item[]): Conversation {
  return { ...inTurn(before, change), phase: "running", open: [], isPausing: false, isOutside: false };
}

function paused(before: Conversation, event: Interrupt): Conversation {
  const next = inTurn(before, (items) => withPause(items, event.requests));
  const asked = event.requests.map((one) => one.request_id);
  // A run that pauses again has had its answers. Without a run there may be several pauses at a time.
  const open = before.isPausing ? [...new Set([...before.open, ...asked])] : asked;
  const waiting: Conversation = { ...next, phase: "waiting", open, isPausing: true };
  return asked.filter((one) => before.settled.includes(one)).reduce(withoutOpen, waiting);
}

function ended(before: Conversation, event: End): Conversation {
  // Not in the log: it is the stream that ended, and the run goes on.
  if (placeOf(event.id) === null) return { ...before, notice: before.failing, failing: null };
  const { failing, isPausing } = before;
  if (isPausing) {
    const phase = before.open.length > 0 ? "waiting" : "running";
    return { ...changeItems(before, withAllWaiting), phase, isPausing: false, isOutside: false, failing: null };
  }
  const failure: Item[] = failing === null ? [] : [{ type: "failure", message: failing }];
  const next = inTurn(before, (items) => [...withNothingUnderWay(items), ...failure]);
  const over = changeLast(next, { isOver: true, isStopped: before.isStopping && failing === null });
  return { ...over, phase: "idle", open: [], isStopping: false, failing: null, token: null };
}

function settled(before: Conversation, requestId: string): Conversation {
  if (before.settled.includes(requestId)) return before;
  return withoutOpen({ ...before, settled: [...before.settled, requestId] }, requestId);
}

function withoutOpen(before: Conversation, requestId: string): Conversation {
  if (!before.open.includes(requestId)) return before;
  const open = before.open.filter((one) => one !== requestId);
  const next = changeItems(before, (items) => withAnswer(items, requestId));
  if (open.length > 0 || before.phase !== "waiting") return { ...next, open };
  // The pause of a run is told with the run's end, in one go: where there was none, the agent runs elsewhere.
  const phase = before.isPausing ? "idle" : "running";
  return { ...next, open, phase, isOutside: before.isPausing };
}

function withoutGone(before: Conversation, requestIds: readonly string[]): Conversation {
  return { ...requestIds.reduce(settled, before), isOutside: before.isOutside || before.isPausing };
}

function withHistory(before: Conversation, messages: readonly Said[]): Conversation {
  const { earlier, turns, justSaid } = aligned(before.turns, messages);
  const next = { ...before, earlier, turns };
  return justSaid === null ? next : begunWith(next, justSaid);
}

/** With a message that the server has. */
function begunWith(before: Conversation, text: string): Conversation {
  const begun = said(before, text);
  return { ...begun, turns: sentTurns(begun) };
}

function said(before: Conversation, text: string): Conversation {
  const turn = newTurn(before, text);
  const turns = [...before.turns, { ...turn, sent: "sending" as const }];
  return { ...before, turns, phase: "running", nextKey: before.nextKey + 1, isStopping: false, token: null };
}

function sentTurns(before: Conversation): Turn[] {
  return before.turns.map((turn) => (turn.sent === "sent" ? turn : { ...turn, sent: "sent" }));
}

/** The server did not take the message. What came meanwhile was another's. */
function takenBack(before: Conversation): Conversation {
  const turn = lastTurn(before);
  if (!turn || turn.sent === "sent") return before;
  if (turn.items.length > 0) return changeLast(before, { user: null, sent: "sent" });
  const turns = before.turns.slice(0, -1);
  const phase = before.open.length > 0 ? "waiting" : turns.at(-1)?.isOver === false ? "running" : "idle";
  return { ...before, turns, phase };
}

/** In the turn under way, which begins here if none is. */
function inTurn(before: Conversation, change: (items: readonly Item[]) => Item[]): Conversation {
  const turn = lastTurn(before);
  const isNew = !turn || turn.isOver;
  const begun = isNew ? [...before.turns, newTurn(before, null)] : before.turns;
  const next = { ...before, turns: begun, nextKey: before.nextKey + (isNew ? 1 : 0), isResumed: false, notice: null };
  return changeItems(next, change);
}

function newTurn(before: Conversation, user: string | null): Turn {
  const isGuess = user === null && lastTurn(before)?.items.at(-1)?.type === "failure";
  return { key: before.nextKey, user, sent: "sent", items: [], isOver: false, isStopped: false, isGuess };
}

function changeItems(before: Conversation, change: (items: readonly Item[]) => Item[]): Conversation {
  const turn = lastTurn(before);
  return turn ? changeLast(before, { items: change(turn.items) }) : before;
}

function changeLast(before: Conversation, fields: Partial<Turn>): Conversation {
  const turn = lastTurn(before);
  return turn ? { ...before, turns: [...before.turns.slice(0, -1), { ...turn, ...fields }] } : before;
}
