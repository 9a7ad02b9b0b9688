import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { type Preview, previewOf } from "../model/preview";
import { useReview } from "../review";
import { Lines } from "./lines";
import styles from "./panel.module.css";

/** What the tool says that the call would do, where no difference of a file shows it. */
export function PreviewView() {
  const t = useTranslations("request.run");
  const { request } = useReview();
  const preview = useMemo(() => previewOf(request), [request]);
  if (!preview) return null;
  if (preview.type === "none") {
    return <p className={styles.note}>{t.rich("noPreview", { reason: () => <Revealed text={preview.reason} /> })}</p>;
  }
  return (
    <div className={styles.beside}>
      <h3 className={styles.small}>{t("preview")}</h3>
      {preview.type === "table" ? <Table preview={preview} /> : <Lines lines={preview.lines} />}
      {preview.leftOut > 0 && <p className={styles.note}>{t("leftOut", { count: preview.leftOut })}</p>}
    </div>
  );
}

function Table({ preview: { columns, rows } }: { preview: Extract<Preview, { type: "table" }> }) {
  return (
    // Wide ones scroll by themselves, also by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: else nobody without a mouse could scroll it
    <section className={styles.table} tabIndex={0} aria-label={columns.join(", ")}>
      <table>
        <thead>
          <tr>
            {columns.map((one, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name than their place
              <th key={place} scope="col">
                <Revealed text={one} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name than their place
            <tr key={at}>
              {row.map((one, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name than their place
                <td key={place}>
                  <Revealed text={one} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
