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
    if (scroller.current) scroller.current.scrollTop = endOf(scroller.current);
  }, []);
  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    let [height, top] = [inner.offsetHeight, box.scrollTop];
    const scrolled = () => {
      // Only who goes up stops following: more may have come since we scrolled, of which this is told late.
      const isUp = box.scrollTop < top;
      top = box.scrollTop;
      // What became shorter was not gone up in: its end is still its end.
      if (isUp) isFollowing.current = endOf(box) - top <= 1;
      else if (isAtEnd(box)) isFollowing.current = true;
      if (isAtEnd(box)) setHasNew(false);
    };
    const grown = () => {
      const isMore = inner.offsetHeight > height;
      height = inner.offsetHeight;
      // Forward only: who reads on in a request is left there.
      if (isFollowing.current) {
        box.scrollTop = Math.max(box.scrollTop, followed(box));
        top = box.scrollTop;
      }
      if (isMore && !isAtEnd(box)) setHasNew(true);
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
  return endOf(box) - box.scrollTop <= NEAR;
}

/** The end; but of a request that waits its beginning. */
function endOf(box: HTMLElement): number {
  const request = box.querySelector("[data-asked=open]");
  const end = box.scrollHeight - box.clientHeight;
  return request ? Math.min(end, topOf(request, box) - MARGIN) : end;
}

/** As far as nothing that has the focus is moved out of sight. */
function followed(box: HTMLElement): number {
  const { activeElement } = document;
  const focused = activeElement !== box && box.contains(activeElement) ? activeElement : null;
  return focused ? Math.min(endOf(box), topOf(focused, box) - MARGIN) : endOf(box);
}

function topOf(element: Element, box: HTMLElement): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
}
