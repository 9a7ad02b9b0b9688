import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { scrollerOf } from "./use-end";

/** How far from the screen a block is drawn already. */
const NEAR = "1000px 0px";

interface Props<T> {
  items: readonly T[];
  /** So many items are drawn, and laid out, together. */
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
  return blocks.map(({ items: own, lines }, place) => (
    <Block
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name than their place
      key={place}
      isAlways={blocks.length <= few}
      isFirst={place < 2}
      lines={lines}
      height={lines * lineHeight}
      className={className}
      draw={() => draw(own, place * size)}
    />
  ));
}

interface BlockProps {
  isAlways: boolean;
  isFirst: boolean;
  lines: number;
  height: number;
  className: string | undefined;
  draw: () => ReactNode;
}

function Block({ isAlways, isFirst, lines, height, className, draw }: BlockProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(isFirst);
  /** As it was when it was last drawn. */
  const drawn = useRef(height);
  useEffect(() => {
    const element = place.current;
    if (isAlways || !element) return;
    const look = ([entry]: IntersectionObserverEntry[]) => {
      if (!entry) return;
      if (!entry.isIntersecting && element.childElementCount > 0) drawn.current = element.offsetHeight;
      setNear(entry.isIntersecting);
    };
    const observer = new IntersectionObserver(look, { root: scrollerOf(element), rootMargin: NEAR });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isAlways]);
  const isDrawn = isAlways || isNear;
  const style: CSSProperties = isDrawn ? { containIntrinsicSize: `auto ${height}px` } : { height: drawn.current };
  return (
    <div ref={place} className={className} style={style} data-lines={lines}>
      {isDrawn && draw()}
    </div>
  );
}

function inBlocks<T>(items: readonly T[], size: number, linesOf: (item: T) => number) {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, place) => {
    const own = items.slice(place * size, (place + 1) * size);
    return { items: own, lines: own.reduce((sum, item) => sum + linesOf(item), 0) };
  });
}
