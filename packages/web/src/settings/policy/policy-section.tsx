import type { PolicyHistory } from "interlock-client/wire";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { useHistory, useOpen, useVersion } from "./api";
import styles from "./policy.module.css";
import { useDraft } from "./use-draft";
import { Versions } from "./versions";
import { Workbench } from "./workbench";

/** Rules that decide which asks need no person: written, tried, and had count. */
export function PolicySection() {
  const t = useTranslations("settings.policy");
  const history = useHistory();
  if (history.isPending) return <Loading />;
  if (history.isError) return <Failed error={history.error} onRetry={() => void history.refetch()} />;
  return (
    <div className={styles.section}>
      <p className={lists.what}>{t("what")}</p>
      {history.data.engine === null && (
        <p className={styles.missing} role="alert">
          {t(history.data.active === null ? "noEngine" : "noEngineActive")}
        </p>
      )}
      <Standing history={history.data} />
      <Written history={history.data} />
    </div>
  );
}

/** What counts now, and since when. */
function Standing({ history: { active, activated } }: { history: PolicyHistory }) {
  const t = useTranslations("settings.policy");
  const day = useDay();
  const since = activated && t("since", { who: activated.by, time: day(activated.at) });
  return (
    <p className={styles.standing}>
      <strong>{active === null ? t("noneCounts") : t("counts", { version: active })}</strong>{" "}
      {since && <Revealed text={since} />}
    </p>
  );
}

function Written({ history }: { history: PolicyHistory }) {
  const t = useTranslations("settings.policy");
  const [draft, keep] = useDraft();
  // What counts is what one begins with, else the newest.
  const first = history.active ?? history.versions[0]?.version ?? null;
  const base = draft ? draft.base : first;
  const version = useVersion(base);
  const open = useOpen();
  const [asked, setAsked] = useState<number | null>(null);
  const written =
    draft ?? (base === null ? { text: t("example"), base } : version.data && { text: version.data.text, base });
  const isChanged = draft !== null && draft.text !== version.data?.text;
  const replace = (number: number) => open.mutate(number, { onSuccess: ({ text }) => keep({ text, base: number }) });
  return (
    <>
      {version.isError && !written && <Failed error={version.error} onRetry={() => void version.refetch()} />}
      {written && (
        <Workbench
          draft={written}
          saved={version.data?.text}
          onText={(text) => keep({ text, base: written.base })}
          onSaved={(number) => keep({ base: number })}
        />
      )}
      <h2>{t("versions")}</h2>
      {open.isError && <p role="alert">{t("openFailed", { message: open.error.message })}</p>}
      <Versions history={history} onEdit={(number) => (isChanged ? setAsked(number) : replace(number))} />
      {asked !== null && (
        <Replace
          onClose={() => setAsked(null)}
          onReplace={() => {
            setAsked(null);
            replace(asked);
          }}
        />
      )}
    </>
  );
}

/** What was written and not saved is lost only when its writer says that it may be. */
function Replace({ onClose, onReplace }: { onClose: () => void; onReplace: () => void }) {
  const t = useTranslations("settings.policy");
  const words = useTranslations("settings");
  return (
    <Dialog title={t("replaceTitle")} onClose={onClose}>
      <p>{t("replaceWhat")}</p>
      <div className={lists.actions}>
        <Button onClick={onClose}>{words("cancel")}</Button>
        <Button look="danger" onClick={onReplace}>
          {t("replace")}
        </Button>
      </div>
    </Dialog>
  );
}
