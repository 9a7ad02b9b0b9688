/** What the list is narrowed to, as it stands in the address. */
import type { InboxEntry, Kind, Risk } from "interlock-client/inbox";

export interface Filters {
  kind: Kind | null;
  risk: Risk | null;
  agent: string | null;
  q: string | null;
  /** Whose: `me`, `claimed` or `group:NAME`; only the server knows what that is. */
  for: string | null;
}

export const KINDS: readonly Kind[] = ["approval", "clarification", "decision", "env_var", "questions"];
export const RISKS: readonly Risk[] = ["low", "medium", "high", "critical"];
const NAMES = ["for", "kind", "risk", "agent", "q"] as const;
const GROUP = /^group:.{1,64}$/s;
const LONGEST: Readonly<Record<"agent" | "q", number>> = { agent: 64, q: 200 };

/** What nobody could mean is left out. */
export function filtersOf(search: string): Filters {
  const given = new URLSearchParams(search);
  return {
    kind: KINDS.find((one) => one === given.get("kind")) ?? null,
    risk: RISKS.find((one) => one === given.get("risk")) ?? null,
    agent: given.get("agent")?.slice(0, LONGEST.agent) || null,
    q: given.get("q")?.trim().slice(0, LONGEST.q) || null,
    for: whose(given.get("for")),
  };
}

function whose(given: string | null): string | null {
  return given !== null && (["me", "claimed"].includes(given) || GROUP.test(given)) ? given : null;
}

/** Whether only the server can tell what is among it. */
export function isServers(filters: Filters): boolean {
  return filters.q !== null || filters.for !== null;
}

/** With its question mark; empty where nothing is narrowed. */
export function searchOf(filters: Filters): string {
  const spelled = new URLSearchParams();
  for (const name of NAMES) if (filters[name]) spelled.set(name, filters[name]);
  return spelled.size > 0 ? `?${spelled}` : "";
}

export function isFiltered(filters: Filters): boolean {
  return NAMES.some((name) => filters[name] !== null);
}

/** Whether an entry is among what is looked for; the words of a search only the server can find. */
export function isWanted(entry: InboxEntry, { kind, risk, agent }: Filters): boolean {
  return (
    (kind === null || entry.kind === kind) &&
    (risk === null || entry.risk === risk) &&
    (agent === null || entry.agent === agent)
  );
}
