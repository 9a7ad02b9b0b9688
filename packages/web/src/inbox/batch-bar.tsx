import type { InboxEntry } from "interlock-client/inbox";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { lazyDialog } from "@/shell/lazy-page";
import { Revealed } from "@/text/revealed";
import styles from "./batch.module.css";
import type { Selection } from "./use-selection";

const BatchSheet = lazyDialog(async () => (await import("./batch-sheet")).BatchSheet);

interface Props {
  selection: Selection;
  isOpen: boolean;
  onReview: () => void;
  onClose: () => void;
}

/** What is selected, under the list: nothing moves when it comes. */
export function BatchBar({ selection, isOpen, onReview, onClose }: Props) {
  const t = useTranslations("inbox.batch");
  const { entries, isBegun, refusal, candidates } = selection;
  const [first] = entries;
  return (
    <>
      {(isBegun || refusal) && (
        <section className={styles.bar} aria-label={t("label")}>
          {refusal && <p className={styles.refusal}>{refusal}</p>}
          {isBegun && !first && <p>{t("gone")}</p>}
          {first && <Alike first={first} count={entries.length} />}
          <div className={styles.acts}>
            {first && (
              <Button look="soft" hint="B" onClick={onReview}>
                {t("review")}
              </Button>
            )}
            {candidates.length > entries.length && (
              <Button onClick={selection.all}>{t("all", { count: candidates.length })}</Button>
            )}
            <Button look="quiet" onClick={selection.clear}>
              {t("clear")}
            </Button>
          </div>
        </section>
      )}
      {isOpen && <Sheet entries={entries} onClose={onClose} onDone={selection.clear} />}
    </>
  );
}

function Alike({ first, count }: { first: InboxEntry; count: number }) {
  const t = useTranslations("inbox.batch");
  return (
    <p className={styles.alike}>
      {t("selected", { count })}
      <code>
        <Revealed text={first.tool ?? ""} />
      </code>{" "}
      · <Revealed text={first.agent} />
    </p>
  );
}

interface SheetProps {
  entries: readonly InboxEntry[];
  onClose: () => void;
  onDone: () => void;
}

/** Those that were selected when it was opened: nothing joins them, and nothing falls out while one reads. */
function Sheet({ entries, onClose, onDone }: SheetProps) {
  const [fixed] = useState(entries);
  return (
    <BatchSheet
      entries={fixed}
      onClose={() => {
        onClose();
        onDone();
      }}
    />
  );
}
