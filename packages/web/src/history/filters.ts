/** Which decisions are looked for: kept in the address, so that it can be sent to somebody. */
import type { Outcome } from "interlock-client/inbox";

export const OUTCOMES = ["approved", "edited", "refused", "replied", "answered", "cancelled", "expired"] as const;
export const FACES = [
  "web",
  "threads",
  "hitl",
  "sessions",
  "confirm",
  "agui",
  "langgraph",
  "mcp",
  "hooks",
  "grant",
  "saved",
  "policy",
  "deadline",
  "override",
  "server",
] as const;

export type Face = (typeof FACES)[number];

/** Empty: any. Days are those of whoever looks, as `2026-01-31`; the last one counts. */
export interface Filters {
  who: string;
  face: string;
  tool: string;
  outcome: Outcome | "";
  from: string;
  to: string;
}

export const NONE: Filters = { who: "", face: "", tool: "", outcome: "", from: "", to: "" };
const NAMES = Object.keys(NONE) as (keyof Filters)[];
const LONGEST: Readonly<Record<string, number>> = { who: 64, face: 64, tool: 200 };

/** What an address asks for; what it cannot ask for is left out. */
export function filtersIn(search: string): Filters {
  const params = new URLSearchParams(search);
  const found: Filters = { ...NONE };
  for (const name of ["who", "face", "tool"] as const) found[name] = (params.get(name) ?? "").slice(0, LONGEST[name]);
  found.outcome = OUTCOMES.find((one) => one === params.get("outcome")) ?? "";
  for (const name of ["from", "to"] as const) found[name] = dayIn(params.get(name));
  return found;
}

export function addressOf(filters: Filters): string {
  const params = new URLSearchParams();
  for (const name of NAMES) if (filters[name]) params.set(name, filters[name]);
  const spelled = params.toString();
  return spelled ? `/history?${spelled}` : "/history";
}

export function isEmpty(filters: Filters): boolean {
  return NAMES.every((name) => !filters[name]);
}

/** As the server takes it: moments, in place of days. */
export function queryOf({ who, face, tool, outcome, from, to }: Filters): Record<string, string | undefined> {
  return {
    who: who || undefined,
    face: face || undefined,
    tool: tool || undefined,
    outcome: outcome || undefined,
    from: from ? midnight(from, 0) : undefined,
    to: to ? midnight(to, 1) : undefined,
  };
}

function midnight(day: string, later: number): string {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return date.toISOString();
}

function dayIn(text: string | null): string {
  const isDay = text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(Date.parse(`${text}T00:00:00`));
  return isDay ? text : "";
}
