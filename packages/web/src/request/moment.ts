import { useCallback } from "react";
import { useFormatter } from "use-intl";
import { serverNow } from "@/api/clock";

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const DAY = { month: "short", day: "numeric" } as const;

/** A moment of the server as people say it: the time of day, and the day where it is not this one. */
export function useMoment(): (moment: string | number | null) => string {
  const format = useFormatter();
  return useCallback(
    (moment) => {
      const time = new Date(moment ?? Number.NaN);
      if (Number.isNaN(time.getTime())) return "?";
      const isToday = time.toDateString() === new Date(serverNow()).toDateString();
      return format.dateTime(time, isToday ? CLOCK : { ...DAY, ...CLOCK });
    },
    [format],
  );
}
