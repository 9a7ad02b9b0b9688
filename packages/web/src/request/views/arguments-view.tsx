import { memo } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import type { Argument } from "../model/json-lines";
import styles from "./arguments-view.module.css";
import { Blocks } from "./blocks";
import { Lines } from "./lines";

/** Name by name, each value in the server's spelling; a text of several lines stands in a block of its own. */
export const ArgumentsView = memo(function ArgumentsView({ given }: { given: readonly Argument[] }) {
  // One list, and one width for all names, where they are few enough to be laid out together.
  if (given.length <= ONE_LIST) return <Some given={given} />;
  return (
    <Blocks
      items={given}
      size={BLOCK}
      few={FEW_BLOCKS}
      linesOf={linesOf}
      lineHeight={ROW_HEIGHT}
      className={styles.block}
      draw={(own) => <Some given={own} isOfMany />}
    />
  );
});

const ONE_LIST = 20;
const BLOCK = 10;
const ROW_HEIGHT = 24;
const FEW_BLOCKS = 150;

function linesOf({ text, lines }: Argument): number {
  return (text ?? lines).length;
}

function Some({ given, isOfMany = false }: { given: readonly Argument[]; isOfMany?: boolean }) {
  return (
    <dl className={`${styles.arguments} ${isOfMany ? styles.many : ""}`}>
      {given.map((argument) => (
        <div key={argument.name} className={styles.argument}>
          <dt className={styles.name}>
            <Revealed text={argument.name} />
          </dt>
          <dd className={styles.value}>
            {argument.text ? <TextBlock text={argument.text} /> : <Lines lines={argument.lines} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Within a rule, so that no text can pass for further arguments. */
function TextBlock({ text }: { text: readonly string[] }) {
  const t = useTranslations("request.run");
  return (
    <>
      <p className={styles.note}>{t("textOf", { lines: text.length })}</p>
      <div className={styles.text}>
        <Lines lines={text} />
      </div>
    </>
  );
}
