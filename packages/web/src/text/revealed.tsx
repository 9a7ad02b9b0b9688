import { memo, useMemo } from "react";
import { useTranslations } from "use-intl";
import { type Piece, pieces, type Row, rows, spellingOf } from "./reveal";
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

/** One line in pieces. There may be thousands of them, so that none is a component of its own. */
export function Line({ row }: { row: Row | undefined }) {
  const t = useTranslations("text");
  if (!row) return null;
  if (row.type === "blank") return <span className={styles.chip}>{`‹${t("blankLines", { count: row.count })}›`}</span>;
  return row.pieces.map((piece, index) => {
    if (piece.type === "text") return piece.text;
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
