/** Following what is written, for those who are at its end. */
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** So near to the end counts as there. */
const NEAR = 48;
const MARGIN = 12;

export interface Bottom {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** There is more below than was there when the person went up. */
  hasNew: boolean;
  toBottom: () => void;
}

export function useBottom(): Bottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const [hasNew, setHasNew] = useState(false);
  const toBottom = useCallback(() => {
    isFollowing.current = true;
    setHasNew(false);
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, []);
  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    let height = inner.offsetHeight;
    const scrolled = () => {
      isFollowing.current = isAtEnd(box);
      if (isFollowing.current) setHasNew(false);
    };
    const grown = () => {
      const isMore = inner.offsetHeight > height;
      height = inner.offsetHeight;
      // Forward only: who reads on in a request is left there.
      if (isFollowing.current) box.scrollTop = Math.max(box.scrollTop, target(box));
      else if (isMore) setHasNew(true);
    };
    const watch = new ResizeObserver(grown);
    watch.observe(inner);
    watch.observe(box);
    box.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      watch.disconnect();
      box.removeEventListener("scroll", scrolled);
    };
  }, []);
  return { scroller, content, hasNew, toBottom };
}

function isAtEnd(box: HTMLElement): boolean {
  const left = box.scrollHeight - box.clientHeight;
  return left - box.scrollTop <= NEAR || target(box) - box.scrollTop <= NEAR;
}

/** The end; but of a request that waits its beginning, and nothing that has the focus is moved out of sight. */
function target(box: HTMLElement): number {
  const end = box.scrollHeight - box.clientHeight;
  const { activeElement } = document;
  const focused = activeElement !== box && box.contains(activeElement) ? activeElement : null;
  const kept = [box.querySelector("[data-asked=open]"), focused].filter((one) => one !== null);
  return Math.min(end, ...kept.map((one) => topOf(one, box) - MARGIN));
}

function topOf(element: Element, box: HTMLElement): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
}
