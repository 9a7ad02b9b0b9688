import { memo, useMemo } from "react";
import { type Row, rows } from "@/text/reveal";
import { Line } from "@/text/revealed";
import { Blocks } from "./blocks";
import styles from "./lines.module.css";

/** So many lines are laid out together; those that are not on the screen cost nothing. */
export const BLOCK = 25;
export const LINE_HEIGHT = 20;
export const FEW_BLOCKS = 240;

const ONE = () => 1;

/** Lines to the last, whatever they hold: they wrap, and none is left out. */
export const Lines = memo(function Lines({ lines, prompt }: { lines: readonly string[]; prompt?: string }) {
  const found = useMemo(() => rows(lines), [lines]);
  if (found.length === 1) {
    return (
      <div className={styles.lines} data-lines={1}>
        {drawn(found[0] as Row, 0, prompt)}
      </div>
    );
  }
  return (
    <div className={styles.lines}>
      <Blocks
        items={found}
        size={BLOCK}
        few={FEW_BLOCKS}
        linesOf={ONE}
        lineHeight={LINE_HEIGHT}
        className={styles.block}
        draw={(own, from) => own.map((row, place) => drawn(row, from + place, prompt))}
      />
    </div>
  );
});

function drawn(row: Row, place: number, prompt: string | undefined) {
  return (
    <div key={place} className={styles.line}>
      {prompt && place === 0 && (
        <span className={styles.prompt} aria-hidden="true">
          {prompt}
        </span>
      )}
      <Line row={row} />
    </div>
  );
}
