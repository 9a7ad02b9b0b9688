import { useEffect, useState } from "react";
import { serverNow } from "@/api/clock";

/** Longer timers fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Whether the deadline has passed, by the server's clock. */
export function useOverdue(expiresAt: string | null): boolean {
  const [isOverdue, setOverdue] = useState(false);
  useEffect(() => {
    setOverdue(false);
    if (!expiresAt) return;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      const left = Date.parse(expiresAt) - serverNow();
      setOverdue(left <= 0);
      // Looked at again also afterwards: the server's clock may have been told anew.
      timer = setTimeout(look, Math.min(Math.max(left, 250), LONGEST_TIMER));
    };
    look();
    return () => clearTimeout(timer);
  }, [expiresAt]);
  return isOverdue;
}
