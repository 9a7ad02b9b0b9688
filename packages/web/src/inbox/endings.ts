/** How a request ended, for the row that stays until the person leaves the list. */
import type { Outcome } from "interlock-client/inbox";
import type { Settled } from "@/api/live";
import { isAtTerminal } from "@/request/model/outcome";

export interface Ending {
  /** `gone`: it ended while nobody told, and its page says how. */
  how: Outcome | "atTerminal" | "deleted" | "gone";
  by: string | null;
}

const DECISIONS: Readonly<Record<string, Outcome>> = {
  accept: "approved",
  edit: "edited",
  reject: "refused",
  response: "replied",
};

export function endingOf(settled: Settled, isApproval: boolean): Ending {
  const { status, answered_by: by, value } = settled;
  if (isAtTerminal(settled)) return { how: "atTerminal", by };
  if (status !== "answered") return { how: status, by };
  return { how: (isApproval && DECISIONS[String(value?.decision)]) || "answered", by };
}
