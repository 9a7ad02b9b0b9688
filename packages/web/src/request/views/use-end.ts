import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { linesLeft } from "../model/lines-left";

/** All of the line that stands after the last one, but for what rounding takes. */
export const WHOLE = 0.95;

export interface End {
  /** What stands after the last line. */
  marker: RefObject<HTMLDivElement | null>;
  hasSeen: boolean;
  linesLeft: number;
}

/**
 * Whether the end of what is shown has been on the screen; `shown` is another text when something else is shown.
 * `covered` says how much of the scroller's lower edge lies under the action bar.
 */
export function useEnd(shown: string, root: RefObject<HTMLElement | null>, covered: () => number): End {
  const marker = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<string | null>(null);
  const [left, setLeft] = useState(0);
  const newest = useRef(covered);
  useEffect(() => {
    newest.current = covered;
  });
  const measure = useCallback(() => {
    if (root.current) setLeft(measured(root.current, newest.current()));
  }, [root]);
  useEffect(() => {
    if (seen !== shown) measure();
  });
  useEffect(() => {
    const end = marker.current;
    if (!end || seen === shown) return;
    const scroller = scrollerOf(end);
    const margin = `0px 0px ${-Math.ceil(newest.current())}px 0px`;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(isSeen) && document.visibilityState === "visible") setSeen(shown);
      },
      { root: scroller, rootMargin: margin, threshold: WHOLE },
    );
    observer.observe(end);
    const target = scroller ?? window;
    target.addEventListener("scroll", measure, { passive: true });
    window.addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      target.removeEventListener("scroll", measure);
      window.removeEventListener("resize", measure);
    };
  }, [shown, seen, measure]);
  return { marker, hasSeen: seen === shown, linesLeft: left };
}

export function isSeen(entry: IntersectionObserverEntry): boolean {
  return entry.intersectionRatio >= WHOLE;
}

/** What scrolls around an element; null: the page itself. */
export function scrollerOf(element: Element): Element | null {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}

function measured(root: HTMLElement, covered: number): number {
  // A value may be in blocks of its own, in a block of arguments that counts its lines too.
  const blocks = [...root.querySelectorAll<HTMLElement>("[data-lines]:not([data-lines] *)")];
  const [first] = blocks;
  if (!first) return 0;
  const edge = scrollerOf(first)?.getBoundingClientRect().bottom ?? window.innerHeight;
  return linesLeft(blocks.map(placed), Math.min(edge, window.innerHeight) - covered);
}

function placed(block: HTMLElement) {
  const { top, bottom } = block.getBoundingClientRect();
  return { top, bottom, lines: Number(block.dataset.lines) };
}
