import { useEffect, useRef } from "react";
import { Dwell } from "../model/dwell";

/** For how long what is shown has been on a visible page; `shown` is another text when something else is shown. */
export function useDwell(shown: string): () => number {
  const dwell = useRef(new Dwell());
  // biome-ignore lint/correctness/useExhaustiveDependencies: it begins anew with what is shown
  useEffect(() => {
    const own = new Dwell();
    dwell.current = own;
    const look = () => {
      if (document.visibilityState === "visible") own.show(performance.now());
      else own.hide(performance.now());
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [shown]);
  return () => dwell.current.at(performance.now());
}
