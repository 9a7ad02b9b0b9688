/** A conversation as it is shown: turns, each begun by a person's message and filled by what the agent did. */
import type { RequestKind } from "interlock-client/wire";

export interface TextItem {
  type: "text";
  text: string;
  /** Whether the log holds it as it stands; else it was put together from tokens. */
  isWhole: boolean;
}

export type ToolState =
  | "running"
  | "done"
  | "failed"
  | "refused"
  /** A person told the agent something in its place: it did not run. */
  | "replied"
  /** Nobody answered: it did not run. */
  | "cancelled"
  | "expired"
  /** A person is asked first. */
  | "waiting"
  /** Nobody is asked about it: it goes on, or begins, when what was asked beside it is answered. */
  | "queued"
  /** The person has answered, and others of the same pause have not. */
  | "answered"
  /** The run ended, and nothing told how this did. */
  | "unfinished";

export interface ToolItem {
  type: "tool";
  callId: string;
  name: string;
  /** `null`: nothing told what it was called with. */
  input: unknown;
  output: string | null;
  state: ToolState;
  /** When it started, for those that were seen starting. */
  startedAt: number | null;
  /** Milliseconds, for those that were seen from start to end. */
  took: number | null;
}

export interface Asked {
  id: string;
  kind: RequestKind;
  /** The call that it stands with: the one that it is about, or the one that asked while it ran. */
  callId: string | null;
  /** Of an approval. */
  tool: string | null;
}

export interface PauseItem {
  type: "pause";
  asked: Asked[];
}

export interface FailureItem {
  type: "failure";
  message: string;
}

export type Item = TextItem | ToolItem | PauseItem | FailureItem;

export interface Turn {
  key: number;
  /** What the person said; `null` while only what came of it is known: streams do not tell. */
  user: string | null;
  /** Of this page's own message: whether the server has it. */
  sent: "sending" | "unsure" | "sent";
  items: Item[];
  isOver: boolean;
  isStopped: boolean;
  /** It came after a failure: it may be a new turn, or the failed one, tried again. */
  isGuess: boolean;
}

/** Nothing runs; the agent works; a person is awaited. */
export type Phase = "idle" | "running" | "waiting";

/** A message that the log tells nothing of. */
export interface Said {
  role: "user" | "assistant" | "tool" | "system";
  content: string;
}

export interface Conversation {
  /** What was said before the log begins. */
  earlier: Said[];
  turns: Turn[];
  phase: Phase;
  /** The requests that wait for somebody. */
  open: string[];
  /** Those that are known to wait no more: of some that is told before what was asked. */
  settled: readonly string[];
  isStopping: boolean;
  /** The agent runs elsewhere: it asks here, and takes no messages. */
  isOutside: boolean;
  /** What the server said last when it ended the stream. */
  notice: string | null;
  /** A pause was opened, and the end of its run has not been told. */
  isPausing: boolean;
  /** An error whose end has not been told: only with it is it the run's. */
  failing: string | null;
  /** The place of the last token. */
  token: Place | null;
  /** The connection is a new one, and nothing came on it: what was being written may begin again. */
  isResumed: boolean;
  nextKey: number;
}

/** Of a frame in the log: the entry's number, and for a token its count since that entry. */
export interface Place {
  entry: number;
  token: number | null;
}

export const EMPTY: Conversation = {
  earlier: [],
  turns: [],
  phase: "idle",
  open: [],
  settled: [],
  isStopping: false,
  isOutside: false,
  notice: null,
  isPausing: false,
  failing: null,
  token: null,
  isResumed: false,
  nextKey: 0,
};

export function placeOf(id: string | undefined): Place | null {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(id ?? "");
  if (!match) return null;
  return { entry: Number(match[1]), token: match[2] === undefined ? null : Number(match[2]) };
}

export function lastTurn(conversation: Conversation): Turn | undefined {
  return conversation.turns.at(-1);
}

/** The tools that are under way now: a stop waits for them. */
export function toolsUnderWay(conversation: Conversation): ToolItem[] {
  const items = lastTurn(conversation)?.items ?? [];
  return items.filter((item): item is ToolItem => item.type === "tool" && item.state === "running");
}
