import { memo, useMemo } from "react";
import { useTranslations } from "use-intl";
import { type Piece, pieces, type Row, rows } from "./reveal";
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

/** One line in pieces. */
export function Line({ row }: { row: Row | undefined }) {
  const t = useTranslations("text");
  if (!row) return null;
  if (row.type === "blank") return <span className={styles.chip}>‹{t("blankLines", { count: row.count })}›</span>;
  return row.pieces.map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name than their place
    <Shown key={index} piece={piece} />
  ));
}

function Shown({ piece }: { piece: Piece }) {
  const t = useTranslations("text");
  switch (piece.type) {
    case "text":
      return piece.text;
    case "blanks":
      return <span className={styles.chip}>‹{t("blanks", { count: piece.count })}›</span>;
    case "hidden": {
      const spelled = piece.name ? `${piece.code} ${piece.name}` : piece.code;
      return (
        <span className={styles.chip} title={t("hidden", { code: spelled })}>
          ‹{spelled}›
        </span>
      );
    }
  }
}
