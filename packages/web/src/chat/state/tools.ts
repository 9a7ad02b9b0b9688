/** Tool calls among the items of a turn. */
import type { ToolEnd, ToolStart } from "interlock-client/events";
import { isObject, textOf } from "interlock-client/json";
import type { RequestView } from "interlock-client/wire";
import type { Asked, Item, ToolItem, ToolState } from "./model";

const UNRUN: readonly ToolState[] = ["refused", "replied", "cancelled", "expired"];
const ENDED: readonly ToolState[] = ["done", "failed", "unfinished", ...UNRUN];
const STATES: Readonly<Record<ToolEnd["status"], ToolState>> = {
  success: "done",
  failed: "failed",
  refused: "refused",
};

export function hasEnded(tool: ToolItem): boolean {
  return ENDED.includes(tool.state);
}

/** Whether it is known that it never ran. */
export function isUnrun(tool: ToolItem): boolean {
  return UNRUN.includes(tool.state);
}

/** After a crash a tool may be told to start twice: it is one call, unless it had ended. */
export function withStart(items: readonly Item[], event: ToolStart, at: number | null): Item[] {
  const started = { name: event.tool, input: event.input, state: "running", startedAt: at, took: null } as const;
  return changed(items, event.call_id, started) ?? [...items, made(event.call_id, started)];
}

export function withEnd(items: readonly Item[], event: ToolEnd, at: number | null): Item[] {
  const ended = { output: event.output, state: event.outcome ?? STATES[event.status] ?? "failed" };
  const call = underWay(items, event.call_id);
  const took = at === null || call?.startedAt == null ? null : at - call.startedAt;
  return (
    changed(items, event.call_id, { ...ended, took }) ?? [...items, made(event.call_id, { name: event.tool, ...ended })]
  );
}

/** The calls that people are asked about, and the pause itself. */
export function withPause(items: readonly Item[], requests: readonly RequestView[]): Item[] {
  const waiting = requests.reduce(withWaiting, [...items]);
  return [...waiting, { type: "pause", asked: withAskers(waiting, requests.map(askedOf)) }];
}

/** What is about no call was asked by one that has not ended: each by its own, where there are as many of both. */
function withAskers(items: readonly Item[], asked: readonly Asked[]): Asked[] {
  const isAbout = (item: ToolItem) => asked.some((one) => one.callId === item.callId);
  const askers = items.filter((item): item is ToolItem => item.type === "tool" && !hasEnded(item) && !isAbout(item));
  const loose = asked.filter((one) => one.callId === null);
  const askerOf = (one: Asked) => (askers.length === loose.length ? askers[loose.indexOf(one)] : askers[0]);
  return asked.map((one) => (one.callId === null ? { ...one, callId: askerOf(one)?.callId ?? null } : one));
}

function withWaiting(items: Item[], { kind, call_id, request_data }: RequestView): Item[] {
  if (!call_id) return items;
  const waiting = { state: "waiting", took: null } as const;
  if (kind !== "approval") return changed(items, call_id, waiting) ?? items;
  const input = isObject(request_data.args) ? request_data.args : null;
  const call = { ...waiting, name: textOf(request_data.tool_name), input };
  return changed(items, call_id, call) ?? [...items, made(call_id, call)];
}

/** The request is settled: its call waits no longer for a person, at most for what else was asked with it. */
export function withAnswer(items: readonly Item[], requestId: string): Item[] {
  const asked = askedIn(items).find((one) => one.id === requestId);
  if (!asked?.callId) return [...items];
  const call = underWay(items, asked.callId);
  return (call?.state === "waiting" && changed(items, asked.callId, { state: "answered" })) || [...items];
}

/** The run waits, and nothing runs meanwhile: a tool that has not ended asks, or waits for those that do. */
export function withAllWaiting(items: readonly Item[]): Item[] {
  const pause = items.findLast((item) => item.type === "pause");
  const state = (tool: ToolItem) => (pause?.asked.some((one) => one.callId === tool.callId) ? "waiting" : "queued");
  return items.map((item) =>
    item.type === "tool" && item.state === "running" ? { ...item, state: state(item) } : item,
  );
}

/** The run is over: what has not ended by now will not be told to end. */
export function withNothingUnderWay(items: readonly Item[]): Item[] {
  return items.map((item) => (item.type === "tool" && !hasEnded(item) ? { ...item, state: "unfinished" } : item));
}

export function askedIn(items: readonly Item[]): Asked[] {
  return items.flatMap((item) => (item.type === "pause" ? item.asked : []));
}

function underWay(items: readonly Item[], callId: string): ToolItem | undefined {
  return items.findLast((item): item is ToolItem => item.type === "tool" && item.callId === callId && !hasEnded(item));
}

function changed(items: readonly Item[], callId: string, fields: Partial<ToolItem>): Item[] | null {
  const call = underWay(items, callId);
  return call ? items.map((item) => (item === call ? { ...call, ...fields } : item)) : null;
}

function made(callId: string, fields: Partial<ToolItem>): ToolItem {
  const nothing = { name: "", input: null, output: null, state: "running", startedAt: null, took: null } as const;
  return { type: "tool", callId, ...nothing, ...fields };
}

function askedOf(request: RequestView): Asked {
  const tool = request.kind === "approval" ? textOf(request.request_data.tool_name) : null;
  return { id: request.request_id, kind: request.kind, callId: request.call_id ?? null, tool };
}
