import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { folded } from "../model/diff";
import { Name } from "../names";
import { Blocks } from "../views/blocks";
import { DiffSections } from "../views/diff-view";
import { LINE_HEIGHT } from "../views/lines";
import { type Change, changesOf } from "./changes";
import styles from "./edit.module.css";

/** Up to so many changes stand in one list. */
const ONE_LIST = 20;
const BLOCK = 10;

/** What an edit makes of the call, argument by argument. */
export function Changes({ before, after }: { before: unknown; after: unknown }) {
  const t = useTranslations("request.edit");
  const changes = useMemo(() => changesOf(before, after), [before, after]);
  if (changes.length === 0) return <p className={styles.note}>{t("noChanges")}</p>;
  if (changes.length <= ONE_LIST) return <Some changes={changes} />;
  return (
    <div className={styles.object}>
      <Blocks
        items={changes}
        size={BLOCK}
        few={0}
        linesOf={linesOf}
        lineHeight={LINE_HEIGHT}
        className={styles.block}
        draw={(own) => <Some changes={own} />}
      />
    </div>
  );
}

/** With the line of its name. */
function linesOf({ rows }: Change): number {
  return rows.length + 1;
}

function Some({ changes }: { changes: readonly Change[] }) {
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
