import type { ReactNode } from "react";
import { Blocks } from "../views/blocks";
import styles from "./edit.module.css";

/** Up to so many fields stand in one list; of more, those near the screen are drawn. */
const ONE_LIST = 40;
const BLOCK = 10;
const ROW_HEIGHT = 72;

const ONE = () => 1;

interface Props<T> {
  items: readonly T[];
  /** `place`: among all of them. */
  draw: (item: T, place: number) => ReactNode;
}

/** Any number of fields: each is a control of the browser's own, which takes far more memory than a line of text. */
export function FieldBlocks<T>({ items, draw }: Props<T>) {
  if (items.length <= ONE_LIST) return items.map(draw);
  return (
    <Blocks
      items={items}
      size={BLOCK}
      few={0}
      linesOf={ONE}
      lineHeight={ROW_HEIGHT}
      className={styles.block}
      draw={(own, from) => own.map((item, place) => draw(item, from + place))}
    />
  );
}
