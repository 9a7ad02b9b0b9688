import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { folded } from "../model/diff";
import { Name } from "../names";
import { DiffSections } from "../views/diff-view";
import { changesOf } from "./changes";
import styles from "./edit.module.css";

/** What an edit makes of the call, argument by argument. */
export function Changes({ before, after }: { before: unknown; after: unknown }) {
  const t = useTranslations("request.edit");
  const changes = useMemo(() => changesOf(before, after), [before, after]);
  if (changes.length === 0) return <p className={styles.note}>{t("noChanges")}</p>;
  return (
    <dl className={styles.changes}>
      {changes.map((change) => (
        <div key={change.path}>
          <dt>
            <Name text={change.path} />
          </dt>
          <dd>
            <DiffSections sections={folded(change.rows)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
