import { CircleX } from "lucide-react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Revealed } from "@/text/revealed";
import styles from "./conversation.module.css";

interface Props {
  message: string;
  /** `null`: there is something newer, or nothing can be done here. */
  remedy: Remedy | null;
}

export interface Remedy {
  /** Go on with the answers on record; `null` where there are none. */
  again: (() => void) | null;
  /** Put the message back into its field. */
  back: () => void;
  isBusy: boolean;
}

/** A run that failed: what the server says of it, and what can be done. */
export function FailureNote({ message, remedy }: Props) {
  const t = useTranslations("chat.failed");
  return (
    <section className={styles.failure}>
      <p className={styles.failed}>
        <CircleX size={16} aria-hidden="true" /> {t("title")}
      </p>
      <div className={styles.why}>
        <Revealed text={message} multiline />
      </div>
      {remedy?.again && (
        <p className={styles.remedy}>
          <Button look="primary" disabled={remedy.isBusy} onClick={remedy.again}>
            {t("again")}
          </Button>
          <span className="quiet">{t("againWhat")}</span>
        </p>
      )}
      {remedy && !remedy.again && (
        <p className={styles.remedy}>
          <Button onClick={remedy.back}>{t("say")}</Button>
          <span className="quiet">{t("sayWhat")}</span>
        </p>
      )}
    </section>
  );
}
