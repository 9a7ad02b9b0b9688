import type { InboxRequest } from "interlock-client/inbox";
import { useEffect, useId, useMemo, useRef } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { wordsOf } from "@/request/model/bodies";
import { useMoment } from "@/request/moment";
import { Lines } from "@/request/views/lines";
import { AgentWords } from "@/text/agent-words";
import { hiddenIn } from "@/text/reveal";
import { Revealed } from "@/text/revealed";
import { type Call, linesOf, progressOf } from "./batch";
import styles from "./batch.module.css";
import { BatchOutcome } from "./batch-outcome";
import { stretches } from "./differences";

interface Props {
  call: Call;
  place: number;
  count: number;
  /** The lines of all of them. */
  others: readonly (readonly string[])[];
  isTicked: boolean;
  isSending: boolean;
  onTick: (id: string) => void;
  onSeen: (id: string) => void;
}

export function BatchCall({ call, place, count, others, isTicked, isSending, onTick, onSeen }: Props) {
  const t = useTranslations("inbox.batch");
  const moment = useMoment();
  const heading = useId();
  const { entry, request } = call;
  const id = entry.request_id;
  const isOpen = progressOf(call).type === "open";
  return (
    <article className={styles.call} aria-labelledby={heading}>
      <div className={styles.top}>
        <label className={styles.tick}>
          <input
            type="checkbox"
            checked={isTicked && isOpen}
            disabled={!isOpen || isSending}
            onChange={() => onTick(id)}
          />
          <span id={heading}>{t("call", { place, count })}</span>
        </label>
        <span className={styles.facts}>
          {t.rich("in", { title: () => <Revealed text={entry.conversation_title} /> })} ·{" "}
          {t("asked", { time: moment(entry.created_at) })}
        </span>
        <Link href={`/requests/${encodeURIComponent(id)}`}>{t("open")}</Link>
      </div>
      {request && <WhatRuns request={request} others={others} onSeen={onSeen} />}
      <BatchOutcome call={call} isTicked={isTicked} />
    </article>
  );
}

interface WhatRunsProps {
  request: InboxRequest;
  others: readonly (readonly string[])[];
  onSeen: (id: string) => void;
}

function WhatRuns({ request, others, onSeen }: WhatRunsProps) {
  const t = useTranslations("inbox.batch");
  const lines = useMemo(() => linesOf(request), [request]);
  const found = useMemo(() => stretches(lines, others), [lines, others]);
  const hidden = useMemo(() => hiddenIn(lines), [lines]);
  return (
    <>
      <div className={styles.runs}>
        <code className={styles.tool}>
          <Revealed text={request.tool ?? ""} />
        </code>
        {found.map((stretch, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: stretches have no other name than their place
          <div key={place} className={stretch.isSame ? styles.same : styles.differs}>
            {!stretch.isSame && (
              <span className={styles.mark} role="img" aria-label={t("differs")} title={t("differs")}>
                ≠
              </span>
            )}
            <Lines lines={stretch.lines} />
          </div>
        ))}
        <End id={request.request_id} onSeen={onSeen}>
          {t("end", { count: lines.length })}
          {hidden > 0 && ` · ${t("hidden", { count: hidden })}`}
        </End>
      </div>
      <AgentWords text={wordsOf(request)} />
    </>
  );
}

/** Tells when it has been on the screen. */
function End({ id, onSeen, children }: { id: string; onSeen: (id: string) => void; children: React.ReactNode }) {
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (!end.current) return;
    const observer = new IntersectionObserver((found) => {
      if (found.some((one) => one.isIntersecting) && document.visibilityState === "visible") onSeen(id);
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [id, onSeen]);
  return (
    <p ref={end} className={styles.end}>
      {children}
    </p>
  );
}
