import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

const kept = new Map<string, number>();

/** Who comes back from a request finds the list where they left it. */
export function useKeptScroll(name: string, isReady: boolean): RefObject<HTMLDivElement | null> {
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isReady && scroller.current) scroller.current.scrollTop = kept.get(name) ?? 0;
  }, [name, isReady]);
  useEffect(() => {
    const element = scroller.current;
    const keep = () => {
      if (element) kept.set(name, element.scrollTop);
    };
    element?.addEventListener("scroll", keep, { passive: true });
    return () => element?.removeEventListener("scroll", keep);
  }, [name]);
  return scroller;
}
