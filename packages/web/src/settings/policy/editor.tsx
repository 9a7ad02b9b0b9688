import { memo, type Ref, useImperativeHandle, useRef } from "react";
import { useTranslations } from "use-intl";
import { type Mark, spanOf } from "./marks";
import styles from "./policy.module.css";

export interface EditorHandle {
  /** Select a line, and bring it into view. */
  goTo(line: number): void;
}

interface Props {
  text: string;
  onText: (text: string) => void;
  marks: ReadonlyMap<number, Mark>;
  describedBy: string;
  ref: Ref<EditorHandle>;
}

/**
 * A plain field over a copy of its lines, which has the numbers: what people know of fields, and what reads a page aloud
 * knows, holds. Tab leaves it, as it leaves every field; a long line goes on below, in both alike.
 */
export function Editor({ text, onText, marks, describedBy, ref }: Props) {
  const t = useTranslations("settings.policy");
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = useRef<HTMLDivElement>(null);
  useImperativeHandle(ref, () => ({
    goTo: (line) => {
      field.current?.focus({ preventScroll: true });
      field.current?.setSelectionRange(...spanOf(field.current.value, line));
      lines.current?.children[line - 1]?.scrollIntoView({ block: "nearest" });
    },
  }));
  return (
    <div className={styles.editor}>
      <div className={styles.sheet}>
        <div ref={lines} aria-hidden="true">
          {text.split("\n").map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line's number is its name
            <Row key={index} number={index + 1} line={line} mark={marks.get(index + 1)} />
          ))}
        </div>
        <textarea
          ref={field}
          className={styles.text}
          value={text}
          rows={1}
          spellCheck={false}
          autoCapitalize="none"
          autoCorrect="off"
          aria-label={t("text")}
          aria-describedby={describedBy}
          aria-invalid={[...marks.values()].includes("error") || undefined}
          onChange={(event) => onText(event.target.value)}
        />
      </div>
    </div>
  );
}

const SIGNS: Readonly<Record<Mark, string>> = { error: "✕", warning: "!" };

const Row = memo(function Row({ number, line, mark }: { number: number; line: string; mark: Mark | undefined }) {
  return (
    <div className={styles.row} data-mark={mark}>
      <span className={styles.place}>
        {mark && SIGNS[mark]} {number}
      </span>
      <span className={styles.ghost}>{`${line}\n`}</span>
    </div>
  );
});
