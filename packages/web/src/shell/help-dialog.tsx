import { Fragment } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { usePreferences } from "@/preferences/store";
import styles from "./help-dialog.module.css";
import { KEYS, type Key, type KeyGroup } from "./keys-help";

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations("shell.help");
  const shell = useTranslations("shell.person");
  const { shortcuts } = usePreferences();
  return (
    <Dialog title={t("title")} onClose={onClose} wide>
      {!shortcuts && <p className={styles.off}>{t("off")}</p>}
      <div className={styles.groups}>
        {KEYS.map((group) => (
          <Group key={group.where} group={group} />
        ))}
      </div>
      <p className="quiet">{t("fields")}</p>
      <Button onClick={onClose}>{shell("close")}</Button>
    </Dialog>
  );
}

function Group({ group }: { group: KeyGroup }) {
  const t = useTranslations("shell.help");
  return (
    <section className={styles.group}>
      <h3 className={styles.where}>{t(group.where)}</h3>
      <dl className={styles.keys}>
        {group.keys.map((one) => (
          <Fragment key={one.does}>
            <dt>
              <Pressed keys={one.keys} />
            </dt>
            <dd>{t(one.does)}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

function Pressed({ keys }: Pick<Key, "keys">) {
  const t = useTranslations("shell.help");
  return keys.map((sequence, index) => (
    <Fragment key={sequence.join(" ")}>
      {index > 0 && <span className={styles.word}> {t("or")} </span>}
      {sequence.map((one, place) => (
        <Fragment key={one}>
          {place > 0 && <span className={styles.word}> {t("after")} </span>}
          <kbd>{one}</kbd>
        </Fragment>
      ))}
    </Fragment>
  ));
}
