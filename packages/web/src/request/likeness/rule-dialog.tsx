import { InterlockError } from "interlock-client/errors";
import type { PolicyDraft } from "interlock-client/inbox";
import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import { Lines } from "../views/lines";
import { type Replay, useActivate, useDraft, useReplay, useSave } from "./api";
import styles from "./likeness.module.css";

interface Props {
  requestId: string;
  tool: string;
  onClose: () => void;
}

/** A rule is seen with what it would have done before anything of it is saved. */
export function RuleDialog({ requestId, tool, onClose }: Props) {
  const t = useTranslations("request.likeness.dialog");
  const draft = useDraft(requestId);
  return (
    <Dialog title={t("title")} onClose={onClose} wide>
      {draft.isPending && <Loading />}
      {draft.error && isNone(draft.error) && <p className={styles.text}>{t("none")}</p>}
      {draft.error && !isNone(draft.error) && <Trouble error={draft.error} />}
      {draft.data ? (
        <Drafted draft={draft.data} tool={tool} onClose={onClose} />
      ) : (
        <div className={styles.actions}>
          <Button onClick={onClose}>{t("close")}</Button>
        </div>
      )}
    </Dialog>
  );
}

function isNone(error: Error): boolean {
  return error instanceof InterlockError && error.status === 409;
}

function Drafted({ draft, tool, onClose }: { draft: PolicyDraft; tool: string; onClose: () => void }) {
  const t = useTranslations("request.likeness.dialog");
  const replay = useReplay(draft.text);
  const rule = useMemo(() => draft.rule.trimEnd().split("\n"), [draft.rule]);
  return (
    <>
      <p className={styles.text}>{t("what", { count: draft.calls })}</p>
      <h3 className={styles.part}>{t("rule")}</h3>
      <div className={styles.rule}>
        <Lines lines={rule} />
      </div>
      {draft.free.length > 0 && (
        <p className={styles.warning}>
          {t("free")} <Revealed text={draft.free.join(", ")} />
        </p>
      )}
      {!draft.covers && <p className={styles.warning}>{t("uncovered")}</p>}
      <h3 className={styles.part}>{t("replay")}</h3>
      {replay.isPending && <p role="status">{t("replaying")}</p>}
      {replay.isError && <Trouble error={replay.error} />}
      {replay.data && <Replayed replay={replay.data} />}
      <Saving draft={draft} tool={tool} isReady={replay.isSuccess} onClose={onClose} />
    </>
  );
}

function Replayed({ replay }: { replay: Replay }) {
  const t = useTranslations("request.likeness.dialog");
  const refused = replay.rows.find((row) => row.happened === "refused" && row.then === "allow");
  return (
    <>
      <p className={styles.text}>
        {t("looked", { count: replay.looked_at, whole: String(replay.whole), saved: replay.asks_saved })}
      </p>
      {refused && <p className={styles.warning}>{t("refused", { count: refused.count })}</p>}
      {replay.rows.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{t("happened")}</th>
              <th scope="col">{t("ruled")}</th>
              <th scope="col">{t("count")}</th>
            </tr>
          </thead>
          <tbody>
            {replay.rows.map((row) => (
              <tr key={`${row.happened} ${row.then}`}>
                <td>
                  {t.has(`outcome.${row.happened as "approved"}`)
                    ? t(`outcome.${row.happened as "approved"}`)
                    : row.happened}
                </td>
                <td>{t(`ruling.${row.then}`)}</td>
                <td>{row.count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

interface SavingProps {
  draft: PolicyDraft;
  tool: string;
  /** Whether it was seen what the rule would have done. */
  isReady: boolean;
  onClose: () => void;
}

/** To save it and to have it count are two acts. */
function Saving({ draft, tool, isReady, onClose }: SavingProps) {
  const t = useTranslations("request.likeness.dialog");
  const saving = useSave();
  const activating = useActivate();
  const version = saving.data?.version;
  const isActive = activating.isSuccess;
  const error = saving.error ?? activating.error;
  return (
    <>
      <div role="status">
        {version !== undefined && <p className={styles.text}>{t(isActive ? "active" : "saved", { version })}</p>}
      </div>
      {error && <Trouble error={error} />}
      <div className={styles.actions}>
        {version === undefined && (
          <Button
            look="primary"
            disabled={!isReady || saving.isPending}
            onClick={() => saving.mutate({ text: draft.text, note: t("note", { tool }) })}
          >
            {t("save")}
          </Button>
        )}
        {version !== undefined && !isActive && (
          <Button
            look="primary"
            disabled={activating.isPending}
            onClick={() => activating.mutate({ version, expected: draft.active })}
          >
            {t("activate", { version })}
          </Button>
        )}
        <Button onClick={onClose}>{t("close")}</Button>
      </div>
    </>
  );
}

function Trouble({ error }: { error: Error }) {
  const t = useTranslations("request.likeness.dialog");
  return (
    <p role="alert" className={styles.warning}>
      {t("failed", { message: error.message })}
    </p>
  );
}
