import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import type { Argument } from "../model/json-lines";
import styles from "./arguments-view.module.css";
import { Lines } from "./lines";

/** Name by name, each value in the server's spelling; a text of several lines stands in a block of its own. */
export function ArgumentsView({ given }: { given: readonly Argument[] }) {
  return (
    <dl className={styles.arguments}>
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
