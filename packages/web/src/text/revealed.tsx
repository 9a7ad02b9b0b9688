import { memo, useMemo } from "react";
import { useTranslations } from "use-intl";
import { type Piece, pieces, type Row, rows, runsOf, spellingOf } from "./reveal";
import styles from "./revealed.module.css";

/** Text from an agent, on one line or in a paragraph. Whatever else it may hold, it is only ever text. */
export const Revealed = memo(function Revealed({ text, multiline = false }: { text: string; multiline?: boolean }) {
  const found = useMemo<Row[]>(
    () => (multiline ? rows(text.split("\n")) : [{ type: "line", pieces: pieces(text) }]),
    [text, multiline],
  );
  if (!multiline) return <Line row={found[0]} />;
  return (
    <span className={styles.paragraph}>
      {found.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
        <span key={index} className={styles.row}>
          <Line row={row} />
        </span>
      ))}
    </span>
  );
});

/** One line. Most are nothing but text, and there may be thousands: only the others need to know how chips are worded. */
export function Line({ row }: { row: Row | undefined }) {
  if (!row) return null;
  const [only] = row.type === "line" && row.pieces.length === 1 ? row.pieces : [];
  return only?.type === "text" ? <Words text={only.text} /> : <Pieces row={row} />;
}

/** What is written from right to left can be read, and nothing else changes its place for it. */
function Words({ text }: { text: string }) {
  const runs = runsOf(text);
  if (runs.length === 1 && !runs[0]?.isRightToLeft) return text;
  return runs.map((run, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: runs have no other name than their place
    <span key={index} className={run.isRightToLeft ? styles.run : undefined}>
      {run.text}
    </span>
  ));
}

/** There may be thousands of them in a line, so that none is a component of its own. */
function Pieces({ row }: { row: Row }) {
  const t = useTranslations("text");
  if (row.type === "blank") return <span className={styles.chip}>{`‹${t("blankLines", { count: row.count })}›`}</span>;
  return row.pieces.map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name than their place
    if (piece.type === "text") return <Words key={index} text={piece.text} />;
    const { text, title } = chip(piece, t);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name than their place
      <span key={index} className={styles.chip} title={title}>
        {text}
      </span>
    );
  });
}

type Texts = ReturnType<typeof useTranslations<"text">>;

function chip(piece: Exclude<Piece, { type: "text" }>, t: Texts): { text: string; title?: string } {
  if (piece.type === "blanks") return { text: `‹${t("blanks", { count: piece.count })}›` };
  const spelled = spellingOf(piece);
  return { text: `‹${spelled}›`, title: t("hidden", { code: spelled }) };
}
