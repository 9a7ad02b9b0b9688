/** What is said of new requests outside the list: our words and the names of things, never what an agent wrote. */
import type { InboxEntry, Kind, Risk } from "interlock-client/inbox";
import type { LiveEvent } from "@/api/live";
import { spelledOut } from "@/text/reveal";

const LEVELS: readonly Risk[] = ["low", "medium", "high", "critical"];
const LONGEST_NAME = 60;

export type News =
  | { type: "one"; requestId: string; kind: Kind; agent: string }
  | { type: "call"; requestId: string; kind: Kind; agent: string; tool: string; risk: Risk }
  | { type: "many"; count: number; agents: string; risk: Risk | null };

/** Null: it is no request that came to this person. Who puts one to others may often not decide it. */
export function arrived(event: LiveEvent): InboxEntry | null {
  if (event.type === "routed") return event.entry.people?.may_answer ? event.entry : null;
  return event.type === "asked" ? event.entry : null;
}

export function newsOf(entries: readonly InboxEntry[]): News | null {
  const [first] = entries;
  if (!first) return null;
  if (entries.length > 1) {
    const agents = [...new Set(entries.map((entry) => nameOf(entry.agent)))].join(", ");
    return { type: "many", count: entries.length, agents, risk: highest(entries) };
  }
  const told = { requestId: first.request_id, kind: first.kind, agent: nameOf(first.agent) };
  if (first.tool === null) return { type: "one", ...told };
  return { type: "call", ...told, tool: nameOf(first.tool), risk: first.risk ?? "medium" };
}

function highest(entries: readonly InboxEntry[]): Risk | null {
  const calls = entries.filter((entry) => entry.tool !== null).map((entry) => LEVELS.indexOf(entry.risk ?? "medium"));
  return calls.length ? (LEVELS[Math.max(...calls)] ?? null) : null;
}

/** A name may hold anything too, and be long enough to look like a sentence. */
function nameOf(name: string): string {
  const spelled = [...spelledOut(name)];
  return spelled.length > LONGEST_NAME ? `${spelled.slice(0, LONGEST_NAME - 1).join("")}…` : spelled.join("");
}
