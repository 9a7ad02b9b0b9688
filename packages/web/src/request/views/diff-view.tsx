import type { File } from "interlock-client/inbox";
import { memo, useMemo, useState } from "react";
import { useTranslations } from "use-intl";
import { pieces, type Row } from "@/text/reveal";
import { Line, Revealed } from "@/text/revealed";
import { type DiffRow, difference, type Section } from "../model/diff";
import { useMoment } from "../moment";
import { Blocks } from "./blocks";
import styles from "./diff-view.module.css";
import { BLOCK, FEW_BLOCKS, LINE_HEIGHT } from "./lines";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

/** What would become of the file. */
export const DiffView = memo(function DiffView({ file }: { file: File }) {
  const found = useMemo(() => difference(file.text ?? "", file.after ?? ""), [file.text, file.after]);
  return (
    <>
      <FileLine file={file} added={found.added} removed={found.removed} />
      <DiffSections sections={found.sections} />
    </>
  );
});

interface SectionsProps {
  sections: readonly Section[];
  /** Whether the numbers are those of lines of a file. */
  isNumbered?: boolean;
}

export function DiffSections({ sections, isNumbered = true }: SectionsProps) {
  return (
    <div className={`${styles.diff} ${isNumbered ? "" : styles.unnumbered}`}>
      {sections.map((section, place) =>
        section.type === "rows" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: sections have no other name than their place
          <Rows key={place} rows={section.rows} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: sections have no other name than their place
          <Folded key={place} rows={section.rows} />
        ),
      )}
    </div>
  );
}

function FileLine({ file, added, removed }: { file: File; added: number; removed: number }) {
  const t = useTranslations("request.run");
  const moment = useMoment();
  return (
    <p className={styles.file}>
      <code>
        <Revealed text={file.path} />
      </code>
      <span>
        +{added} −{removed}
      </span>
      {!file.exists && <span>{t("newFile")}</span>}
      {/* What is no file has no such time. */}
      {file.modified_at && <span>{t("fileOf", { time: moment(file.modified_at) })}</span>}
      {file.exists && added + removed === 0 && <span>{t("noChange")}</span>}
    </p>
  );
}

function Folded({ rows }: { rows: DiffRow[] }) {
  const t = useTranslations("request.run");
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Rows rows={rows} />;
  return (
    <button type="button" className={styles.folded} onClick={() => setOpen(true)}>
      ‹{t("unchanged", { lines: rows.length })}› <span className={styles.expand}>{t("expand")}</span>
    </button>
  );
}

const ONE = () => 1;

function Rows({ rows }: { rows: readonly DiffRow[] }) {
  const t = useTranslations("request.run");
  const names = { same: undefined, added: t("added"), removed: t("removed") };
  const draw = (own: readonly DiffRow[]) =>
    own.map((row) => <DiffLine key={`${row.type}${row.number}`} row={row} name={names[row.type]} />);
  return (
    <Blocks
      items={rows}
      size={BLOCK}
      few={FEW_BLOCKS}
      linesOf={ONE}
      lineHeight={LINE_HEIGHT}
      className={styles.block}
      draw={draw}
    />
  );
}

function DiffLine({ row, name }: { row: DiffRow; name: string | undefined }) {
  const found = useMemo<Row>(
    () => (row.blank ? { type: "blank", count: row.blank } : { type: "line", pieces: pieces(row.text) }),
    [row.text, row.blank],
  );
  return (
    <div className={`${styles.row} ${styles[row.type]}`}>
      <span className={styles.number}>{row.number}</span>
      <span className={styles.sign} aria-hidden="true">
        {SIGNS[row.type]}
      </span>
      {name && <span className="only-read-aloud">{name}</span>}
      <span className={styles.text}>
        <Line row={found} />
      </span>
    </div>
  );
}
