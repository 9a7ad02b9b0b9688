import { memo, useMemo } from "react";
import { type Row, rows } from "@/text/reveal";
import { Line } from "@/text/revealed";
import styles from "./lines.module.css";

/** So many lines are laid out together; those that are not on the screen cost nothing. */
export const BLOCK = 100;
const LINE_HEIGHT = 20;

/** Lines to the last, whatever they hold: they wrap, and none is left out. */
export const Lines = memo(function Lines({ lines, prompt }: { lines: readonly string[]; prompt?: string }) {
  const blocks = useMemo(() => inBlocks(rows(lines)), [lines]);
  return (
    <div className={styles.lines}>
      {blocks.map((block, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name than their place
        <Block key={place} rows={block} prompt={place === 0 ? prompt : undefined} />
      ))}
    </div>
  );
});

function Block({ rows: found, prompt }: { rows: Row[]; prompt: string | undefined }) {
  const height = useMemo(() => intrinsic(found.length), [found.length]);
  return (
    <div className={styles.block} style={height} data-lines={found.length}>
      {found.map((row, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
        <div key={place} className={styles.line}>
          {prompt && place === 0 && (
            <span className={styles.prompt} aria-hidden="true">
              {prompt}
            </span>
          )}
          <Line row={row} />
        </div>
      ))}
    </div>
  );
}

export function inBlocks<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BLOCK);
  return Array.from({ length: count }, (_, place) => items.slice(place * BLOCK, (place + 1) * BLOCK));
}

/** How high a block is taken to be until it is laid out. */
export function intrinsic(count: number) {
  return { containIntrinsicSize: `auto ${count * LINE_HEIGHT}px` };
}
