import { useCallback } from "react";
import { useFormatter } from "use-intl";

const DAY = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
} as const;

/** A moment with its year: what is listed here may be old, or hold for long. */
export function useDay(): (moment: string | null) => string {
  const format = useFormatter();
  return useCallback((moment) => (moment === null ? "" : format.dateTime(new Date(moment), DAY)), [format]);
}
