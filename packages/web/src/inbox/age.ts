/** For how long something has waited, in the unit that people would say. */
export type Age = { unit: "now" } | { unit: "minutes" | "hours" | "days"; count: number };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function age(milliseconds: number): Age {
  if (milliseconds < MINUTE) return { unit: "now" };
  if (milliseconds < HOUR) return { unit: "minutes", count: Math.floor(milliseconds / MINUTE) };
  if (milliseconds < DAY) return { unit: "hours", count: Math.floor(milliseconds / HOUR) };
  return { unit: "days", count: Math.floor(milliseconds / DAY) };
}
