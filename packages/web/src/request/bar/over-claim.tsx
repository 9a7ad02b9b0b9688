import { useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Revealed } from "@/text/revealed";
import { isRisky } from "../model/remember";
import { useMoment } from "../moment";
import { useReview } from "../review";
import { useActions } from "../use-actions";
import styles from "./bar.module.css";
import { YesButton } from "./yes-button";

/** Somebody else has it: whoever answers all the same says once that they know. A yes is one here too, Enter gives none. */
export function OverClaim() {
  const t = useTranslations("request.team");
  const bar = useTranslations("request.bar");
  const moment = useMoment();
  const { request, over, confirmOver } = useReview();
  const { close } = useActions();
  const words = useRef<HTMLParagraphElement>(null);
  // What was pressed is gone. Never to what decides.
  useEffect(() => words.current?.focus(), []);
  if (!over) return null;
  const isYes = over.act === "accept" || over.act === "edit";
  const by = () => <Revealed key="by" text={over.by} />;
  return (
    <>
      <p ref={words} className={styles.asking} role="alert" tabIndex={-1} data-act="over">
        {t.rich("over", { by, time: moment(over.until) })}
      </p>
      <div className={styles.row}>
        {isYes ? (
          <YesButton isRisky={isRisky(request)} isOff={false} onYes={confirmOver}>
            {t("approveOver")}
          </YesButton>
        ) : (
          <Button look="primary" data-act="send" onClick={confirmOver}>
            {t("answerOver")}
          </Button>
        )}
        <Button onClick={close}>{bar("back")}</Button>
      </div>
    </>
  );
}
