import { useEffect, useState } from "react";
import { post } from "@/api/transport";

const EVERY = 10_000;
/** For as long do others count as looking after they were last heard of. */
const HOLDS = 20_000;

/** Tells others that this request is on this screen, while it is. */
export function useLooking(requestId: string, isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const look = () => {
      if (document.visibilityState !== "visible") return;
      // Whether others know is of no weight; the next one comes soon.
      post("/api/v1/inbox/looking", { request_id: requestId }).catch(() => {});
    };
    look();
    const timer = setInterval(look, EVERY);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [requestId, isOpen]);
}

/** Who else is looking, until nothing has been heard of them for a while. `names` is a new list each time. */
export function useOthers(names: readonly string[], me: string): string[] {
  const [heard, setHeard] = useState(names);
  useEffect(() => {
    setHeard(names);
    const timer = setTimeout(() => setHeard([]), HOLDS);
    return () => clearTimeout(timer);
  }, [names]);
  return heard.filter((name) => name !== me);
}
