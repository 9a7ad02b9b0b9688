/** Where a decision stands in the audit chain of its conversation, and what became of it. */
import { useQuery } from "@tanstack/react-query";
import { isObject, textOf } from "interlock-client/json";
import type { Call } from "interlock-client/transport";
import type { AuditEntry, AuditPage } from "interlock-client/wire";
import { get } from "@/api/transport";

const PAGE = 200;
const MOST_PAGES = 10;
export const MOST_ENTRIES = PAGE * MOST_PAGES;

export function useChain(conversation: string, requestId: string) {
  return useQuery({
    queryKey: ["history", "chain", requestId],
    queryFn: async ({ signal }) => entriesOf(await trail(conversation, requestId, signal), requestId),
  });
}

/** The newest first, back to the first word of the request. */
async function trail(conversation: string, requestId: string, signal: AbortSignal): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: Call["query"] = { conversation_id: conversation, limit: PAGE, cursor };
    const read: AuditPage = await get<AuditPage>("/api/v1/audit", query, signal);
    found.push(...read.entries);
    cursor = read.next_cursor;
    if (cursor === null || found.some((entry) => isSettling(entry, requestId))) break;
  }
  return found;
}

/** What was recorded of the request and of the call that it was about, the oldest first. */
export function entriesOf(found: readonly AuditEntry[], requestId: string): AuditEntry[] {
  const inOrder = [...found].sort((one, other) => one.number - other.number);
  const settled = inOrder.find((entry) => isSettling(entry, requestId));
  const callId = callOf(settled);
  const next = inOrder.find((entry) => isLaterAsk(entry, settled, callId));
  return inOrder.filter((entry) => {
    if (field(entry, "request_id") === requestId) return true;
    const isEffect = entry.action.startsWith("effect.") && callId !== "" && field(entry, "call_id") === callId;
    // There are models that use the id of a call again: what follows another word on it is another call.
    return (
      isEffect && entry.number > (settled?.number ?? 0) && entry.number < (next?.number ?? Number.POSITIVE_INFINITY)
    );
  });
}

export function callOf(entry: AuditEntry | undefined): string {
  return entry ? field(entry, "call_id") : "";
}

export function isSettling(entry: AuditEntry, requestId: string): boolean {
  return (
    entry.action.startsWith("request.") &&
    entry.action !== "request.extended" &&
    field(entry, "request_id") === requestId
  );
}

function isLaterAsk(entry: AuditEntry, settled: AuditEntry | undefined, callId: string): boolean {
  if (!settled || entry.number <= settled.number || !entry.action.startsWith("request.")) return false;
  return callId !== "" && field(entry, "call_id") === callId;
}

function field(entry: AuditEntry, name: string): string {
  return isObject(entry.data) ? textOf(entry.data[name]) : "";
}
