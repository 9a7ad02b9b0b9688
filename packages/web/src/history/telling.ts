/** How an entry is told: who it was, how it ended, how long it was read. */
import type { HistoryEntry } from "interlock-client/inbox";
import { isAtTerminal, SERVER } from "@/request/model/outcome";
import type { en } from "./messages";

export type Ending = keyof typeof en.outcome;
export type Who =
  | { type: "person" | "grant"; name: string }
  | { type: "policy"; rule: string; version: number }
  | { type: "saved" | "nobody" | "server" | "unknown" | "atTerminal" };

/** Told apart without colour. */
export const SIGNS: Readonly<Record<Ending, string>> = {
  approved: "✓",
  allowed: "✓",
  edited: "✎",
  refused: "✕",
  replied: "↩",
  answered: "✓",
  cancelled: "⊘",
  atTerminal: "›_",
  expired: "◷",
  expiredDefault: "◷",
};

export function whoOf({ by, origin, outcome, reason, rule, policy_version: version }: HistoryEntry): Who {
  if (isAtTerminal({ status: outcome, reason: reason ?? null })) return { type: "atTerminal" };
  if (outcome === "expired" || origin === "default") return { type: "nobody" };
  if (origin === "saved") return { type: "saved" };
  if (origin === "policy" && rule && version) return { type: "policy", rule, version };
  if (by === null) return { type: "unknown" };
  if (by === SERVER) return { type: "server" };
  return { type: origin === "grant" ? "grant" : "person", name: by };
}

export function endingOf({ outcome, origin, reason }: HistoryEntry): Ending {
  if (isAtTerminal({ status: outcome, reason: reason ?? null })) return "atTerminal";
  if (outcome === "approved" && (origin === "grant" || origin === "policy")) return "allowed";
  if (outcome === "expired" && origin === "default") return "expiredDefault";
  return outcome;
}

export function readFor(milliseconds: number | null): { unit: "seconds" | "minutes"; count: number } | null {
  if (milliseconds === null) return null;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 120) return { unit: "seconds", count: seconds };
  return { unit: "minutes", count: Math.round(seconds / 60) };
}

/** Entries by the day on which they happened, for whoever looks. */
export function byDay(entries: readonly HistoryEntry[]): { day: string; entries: HistoryEntry[] }[] {
  const days: { day: string; entries: HistoryEntry[] }[] = [];
  for (const entry of entries) {
    const day = new Date(entry.at).toDateString();
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  return days;
}
