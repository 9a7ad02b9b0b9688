/** Rows of a replay as they are read. */
import type { ReplayRow } from "interlock-client/wire";

const HAPPENED = ["approved", "edited", "refused", "replied", "cancelled", "expired"] as const;

/** What happened, where it is known by a word of ours. */
export function happenedIn(happened: string): (typeof HAPPENED)[number] | undefined {
  return HAPPENED.find((one) => one === happened);
}

/** What a person refused and the policy would allow stands first, also where that is nothing: it is what to look for. */
export function rowsOf(rows: readonly ReplayRow[]): ReplayRow[] {
  const isRisky = (row: ReplayRow) => row.happened === "refused" && row.then === "allow";
  // biome-ignore lint/suspicious/noThenProperty: the wire has it
  const risky = rows.find(isRisky) ?? { happened: "refused", then: "allow", count: 0, samples: [] };
  return [risky, ...rows.filter((row) => !isRisky(row))];
}
