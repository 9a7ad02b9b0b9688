/** All of the line that stands after the last one, but for what rounding takes. */
const WHOLE = 0.95;

/**
 * Calls `onSeen` once `end` is on the screen together with all that stands around it there; returns how to stop.
 * `covered`: how much of the scroller's lower edge lies under something else.
 */
export function watchEnd(end: HTMLElement, covered: number, onSeen: () => void): () => void {
  const scroller = scrollerOf(end);
  const look = (entries: IntersectionObserverEntry[]) => {
    const newest = entries.at(-1);
    if (!newest || newest.intersectionRatio < WHOLE || document.visibilityState !== "visible") return;
    if (isAllDrawn(scroller ?? document.documentElement) && isWithin(end, newest.rootBounds)) onSeen();
    // What is not drawn yet has the height that was guessed: where it gets another one, the end is elsewhere.
    else requestAnimationFrame(lookAgain);
  };
  const margin = `0px 0px ${-Math.ceil(covered)}px 0px`;
  const observer = new IntersectionObserver(look, { root: scroller, rootMargin: margin, threshold: WHOLE });
  let isWatching = true;
  const lookAgain = () => {
    observer.unobserve(end);
    if (isWatching) observer.observe(end);
  };
  observer.observe(end);
  return () => {
    isWatching = false;
    observer.disconnect();
  };
}

/** What scrolls around an element; null: the page itself. */
export function scrollerOf(element: Element): Element | null {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}

function isAllDrawn(scroller: Element): boolean {
  const screen = scroller.getBoundingClientRect();
  return [...scroller.querySelectorAll("[data-lines]")].every((block) => {
    const { top, bottom } = block.getBoundingClientRect();
    const isOnScreen = bottom > Math.max(screen.top, 0) && top < Math.min(screen.bottom, window.innerHeight);
    // What is folded away is in nobody's way.
    if (!isOnScreen || !block.checkVisibility()) return true;
    return block.firstElementChild?.checkVisibility({ contentVisibilityAuto: true });
  });
}

function isWithin(end: Element, bounds: DOMRectReadOnly | null): boolean {
  const { top, bottom, height } = end.getBoundingClientRect();
  const rounding = height * (1 - WHOLE);
  return !bounds || (top >= bounds.top - rounding && bottom <= bounds.bottom + rounding);
}
