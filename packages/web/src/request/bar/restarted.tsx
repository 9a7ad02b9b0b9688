import { useState } from "react";
import { useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import { Button } from "@/design/button";
import { useMoment } from "../moment";
import styles from "./bar.module.css";

/** The server was started anew while this page was open. */
export function Restarted() {
  const t = useTranslations("request.bar");
  const moment = useMoment();
  const { restartedAt } = useConnection();
  const [seen, setSeen] = useState(restartedAt);
  if (restartedAt === null || restartedAt === seen) return null;
  return (
    <p className={styles.restarted} role="status">
      <span>{t("restarted", { time: moment(restartedAt) })}</span>
      <Button look="quiet" onClick={() => setSeen(restartedAt)}>
        {t("dismissNote")}
      </Button>
    </p>
  );
}
