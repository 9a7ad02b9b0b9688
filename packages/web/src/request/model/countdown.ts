/** How much time is left, in the unit that people would say. */
export type Left =
  | { unit: "clock"; text: string }
  | { unit: "minutes" | "hours" | "days"; count: number }
  | { unit: "none" };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function left(milliseconds: number): Left {
  if (milliseconds <= 0) return { unit: "none" };
  if (milliseconds < 2 * MINUTE) return { unit: "clock", text: clock(Math.ceil(milliseconds / SECOND)) };
  if (milliseconds < 2 * HOUR) return { unit: "minutes", count: Math.floor(milliseconds / MINUTE) };
  if (milliseconds < 2 * DAY) return { unit: "hours", count: Math.floor(milliseconds / HOUR) };
  return { unit: "days", count: Math.floor(milliseconds / DAY) };
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
