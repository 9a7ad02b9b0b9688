/** The server's clock: deadlines are its moments, and this machine's clock may be wrong. */
import { useEffect, useState } from "react";

let offset = 0;

/** The server just said what time it is. */
export function setServerTime(moment: string): void {
  const time = Date.parse(moment);
  if (Number.isFinite(time)) offset = time - Date.now();
}

export function serverNow(): number {
  return Date.now() + offset;
}

/** The server's time, again every `milliseconds`. */
export function useServerNow(milliseconds = 1_000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
  return now;
}
