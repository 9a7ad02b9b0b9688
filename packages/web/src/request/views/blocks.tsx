import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { scrollerOf } from "./watch-end";

/** How far from the screen a block is drawn already, and how far one that holds others. */
const NEAR = "1000px 0px";
const NEAR_GROUP = "2000px 0px";
/** So many blocks are in a block of their own where there are many: what watches each of them costs time too. */
const GROUP = 40;
/** What a page begins with is drawn at once. */
const FIRST = 4;

interface Props<T> {
  items: readonly T[];
  /** So many items are drawn, and laid out, together: few enough to be drawn between two frames. */
  size: number;
  /** Up to so many blocks all are drawn, and the browser's own search finds what is in them. */
  few: number;
  /** How many lines an item has, for whoever is told how many are left. */
  linesOf: (item: T) => number;
  lineHeight: number;
  className?: string | undefined;
  /** `from`: the place of the first of them. */
  draw: (items: readonly T[], from: number) => ReactNode;
}

/** Any number of items, of which only those near the screen are drawn; the others have their height, and their count. */
export function Blocks<T>({ items, size, few, linesOf, lineHeight, className, draw }: Props<T>) {
  const blocks = useMemo(() => inBlocks(items, size, linesOf), [items, size, linesOf]);
  const groups = useMemo(() => inBlocks(blocks, GROUP, (block) => block.lines), [blocks]);
  const drawn = (own: typeof blocks, from: number) =>
    own.map((block, place) => (
      <Block
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name than their place
        key={from + place}
        near={blocks.length <= few ? "always" : NEAR}
        isFirst={from + place < FIRST}
        lines={block.lines}
        height={block.lines * lineHeight}
        className={className}
        draw={() => draw(block.items, (from + place) * size)}
      />
    ));
  if (blocks.length <= few) return drawn(blocks, 0);
  return groups.map((group, place) => (
    <Block
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name than their place
      key={place}
      near={NEAR_GROUP}
      isFirst={place === 0}
      lines={group.lines}
      height={group.lines * lineHeight}
      draw={() => drawn(group.items, place * GROUP)}
    />
  ));
}

interface BlockProps {
  /** How far from the screen. */
  near: string;
  isFirst: boolean;
  lines: number;
  height: number;
  className?: string | undefined;
  draw: () => ReactNode;
}

function Block({ near, isFirst, lines, height, className, draw }: BlockProps) {
  const isAlways = near === "always";
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(isFirst);
  /** As it was when it was last drawn. */
  const drawn = useRef(height);
  useEffect(() => {
    const element = place.current;
    if (isAlways || !element) return;
    const look = (entries: IntersectionObserverEntry[]) => {
      const entry = entries.at(-1);
      if (!entry || (!entry.isIntersecting && isHeld(element))) return;
      if (!entry.isIntersecting && element.childElementCount > 0) drawn.current = entry.boundingClientRect.height;
      setNear(entry.isIntersecting);
    };
    const observer = new IntersectionObserver(look, { root: scrollerOf(element), rootMargin: near });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isAlways, near]);
  const isDrawn = isAlways || isNear;
  const style: CSSProperties = isDrawn ? { containIntrinsicSize: `auto ${height}px` } : { height: drawn.current };
  return (
    <div ref={place} className={className} style={style} data-lines={lines}>
      {isDrawn && draw()}
    </div>
  );
}

/** Whether somebody is at work in it, or has left something there that would be lost. */
function isHeld(element: Element): boolean {
  return element.contains(document.activeElement) || element.querySelector("[data-unfinished]") !== null;
}

interface InBlock<T> {
  items: T[];
  lines: number;
}

function inBlocks<T>(items: readonly T[], size: number, linesOf: (item: T) => number): InBlock<T>[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, place) => {
    const own = items.slice(place * size, (place + 1) * size);
    return { items: own, lines: own.reduce((sum, item) => sum + linesOf(item), 0) };
  });
}
