/** Moments as a field for date and time has them: by the clock of whoever reads it, without a zone. */

export function spelledTime(moment: string | number): string {
  const time = new Date(moment);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Null: none was typed, or not all of it. */
export function momentOf(typed: string): string | null {
  const time = new Date(typed);
  return typed && Number.isFinite(time.getTime()) ? time.toISOString() : null;
}

export type Standing = "away" | "later" | "over";

/** From `from` on, and at `until` no more. */
export function standingAt({ from, until }: { from: string; until: string }, now: number): Standing {
  if (Date.parse(until) <= now) return "over";
  return Date.parse(from) <= now ? "away" : "later";
}
