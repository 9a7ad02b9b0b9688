import { type ReactNode, type Ref, useRef } from "react";
import { useTranslations } from "use-intl";
import { countLines, type Mark } from "./marks";
import styles from "./policy.module.css";

interface Props {
  text: string;
  onText: (text: string) => void;
  marks: ReadonlyMap<number, Mark>;
  describedBy: string;
  ref: Ref<HTMLTextAreaElement>;
}

/**
 * A plain field beside the numbers of its lines: what people know of fields, and what reads a page aloud knows, holds.
 * Tab leaves it, as it leaves every field. Lines do not wrap, so that each number stands beside its line.
 */
export function Editor({ text, onText, marks, describedBy, ref }: Props) {
  const t = useTranslations("settings.policy");
  const gutter = useRef<HTMLDivElement>(null);
  return (
    <div className={styles.editor}>
      <div className={styles.gutter} ref={gutter} aria-hidden="true">
        <Numbers count={countLines(text)} marks={marks} />
      </div>
      <textarea
        ref={ref}
        className={styles.text}
        value={text}
        wrap="off"
        spellCheck={false}
        autoCapitalize="none"
        autoCorrect="off"
        aria-label={t("text")}
        aria-describedby={describedBy}
        aria-invalid={[...marks.values()].includes("error") || undefined}
        onChange={(event) => onText(event.target.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

const SIGNS: Readonly<Record<Mark, string>> = { error: "✕", warning: "!" };

function Numbers({ count, marks }: { count: number; marks: ReadonlyMap<number, Mark> }): ReactNode {
  return Array.from({ length: count }, (_, index) => {
    const mark = marks.get(index + 1);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line's number is its name
      <div key={index} className={styles.number} data-mark={mark}>
        {mark && <span>{SIGNS[mark]}</span>}
        {index + 1}
      </div>
    );
  });
}
