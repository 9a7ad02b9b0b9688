import { type MouseEvent, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { withoutEnter } from "@/keys/without-enter";
import { useGuard } from "@/request/use-guard";
import { type Call, type Obstacle, progressOf } from "./batch";
import styles from "./batch.module.css";
import type { Sending } from "./use-sending";

interface Props {
  calls: readonly Call[];
  chosen: readonly Call[];
  obstacle: Obstacle | null;
  isOffline: boolean;
  sending: Sending;
  onAnswer: (act: "accept" | "reject") => void;
  onClose: () => void;
}

/** Outside of what scrolls. Enter does nothing here: a yes takes a click, or Space. */
export function BatchActs(props: Props) {
  const { calls, chosen, sending, onClose } = props;
  const t = useTranslations("inbox.batch");
  const bar = useRef<HTMLDivElement>(null);
  const wasSent = calls.some((call) => call.delivery !== null);
  return (
    <div ref={bar} className={styles.foot}>
      {wasSent && sending.at === null ? <Receipt calls={calls} /> : <p className={styles.only}>{t("only")}</p>}
      {sending.at && <p role="status">{t("sending", sending.at)}</p>}
      <div className={styles.acts}>
        {sending.at === null && (chosen.length > 0 || !wasSent) && <Answers {...props} bar={bar} />}
        {sending.at ? (
          <Button onClick={sending.stop}>{t("stop")}</Button>
        ) : (
          <Button onClick={onClose}>{t("close")}</Button>
        )}
      </div>
    </div>
  );
}

function Answers({ chosen, obstacle, isOffline, onAnswer, bar }: Props & { bar: React.RefObject<HTMLElement | null> }) {
  const t = useTranslations("inbox.batch");
  const { isLate } = useGuard(`${chosen.map((call) => call.entry.request_id).join()} ${isOffline}`, bar);
  const count = chosen.length;
  const canRefuse = count > 0 && !isOffline && chosen.every((call) => call.request?.allowed.includes("reject"));
  const act = (decision: "accept" | "reject", isOff: boolean) => (event: MouseEvent) => {
    if (!isOff && !isLate(event.nativeEvent)) onAnswer(decision);
  };
  return (
    <>
      <Button
        look="primary"
        aria-disabled={obstacle !== null}
        onKeyDown={withoutEnter}
        onClick={act("accept", obstacle !== null)}
      >
        {t("approve", { count })}
      </Button>
      <Button aria-disabled={!canRefuse} onKeyDown={withoutEnter} onClick={act("reject", !canRefuse)}>
        {t("refuse", { count })}
      </Button>
      {obstacle && <ObstacleText obstacle={obstacle} />}
    </>
  );
}

function ObstacleText({ obstacle }: { obstacle: Obstacle }) {
  const t = useTranslations("inbox.batch.obstacle");
  return (
    <span className={styles.obstacle} role="status">
      {obstacle.type === "unread" ? t("unread", { count: obstacle.count }) : t(obstacle.type)}
    </span>
  );
}

/** Takes the focus: what was pressed is gone. */
function Receipt({ calls }: { calls: readonly Call[] }) {
  const t = useTranslations("inbox.batch");
  const text = useRef<HTMLParagraphElement>(null);
  useEffect(() => text.current?.focus(), []);
  const sent = calls.filter((call) => call.delivery !== null);
  const done = sent.filter((call) => progressOf(call).type === "done").length;
  return (
    <p ref={text} tabIndex={-1} className={styles.receipt}>
      {t("done", { done, count: sent.length })}
    </p>
  );
}
