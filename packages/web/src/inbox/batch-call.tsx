import type { InboxRequest } from "interlock-client/inbox";
import { useEffect, useId, useMemo, useRef } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { wordsOf } from "@/request/model/bodies";
import { ownTitle } from "@/request/model/title";
import { useMoment } from "@/request/moment";
import { Lines } from "@/request/views/lines";
import { watchEnd } from "@/request/views/watch-end";
import { AgentWords } from "@/text/agent-words";
import { hiddenIn } from "@/text/reveal";
import { Revealed } from "@/text/revealed";
import { type Call, type Parts, partsOf, progressOf } from "./batch";
import styles from "./batch.module.css";
import { BatchOutcome } from "./batch-outcome";
import { stretches } from "./differences";

interface Props {
  call: Call;
  place: number;
  count: number;
  /** What all of them would run. */
  others: readonly Parts[];
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
  const own = ownTitle(entry);
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
          {own && <>{t.rich("in", { title: () => <Revealed text={own} /> })} · </>}
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
  others: readonly Parts[];
  onSeen: (id: string) => void;
}

function WhatRuns({ request, others, onSeen }: WhatRunsProps) {
  const t = useTranslations("inbox.batch");
  const run = useTranslations("request.run");
  const { lines, rest } = useMemo(() => partsOf(request), [request]);
  const hidden = useMemo(() => hiddenIn([...lines, ...rest]), [lines, rest]);
  return (
    <>
      <div className={styles.runs}>
        <code className={styles.tool}>
          <Revealed text={request.tool ?? ""} />
        </code>
        <Compared lines={lines} others={others.map((one) => one.lines)} />
        {rest.length > 0 && (
          <>
            <h3 className={styles.beside}>{run("beside")}</h3>
            <Compared lines={rest} others={others.map((one) => one.rest)} />
          </>
        )}
        <End id={request.request_id} onSeen={onSeen}>
          {t("end", { count: lines.length + rest.length })}
          {hidden > 0 && ` · ${t("hidden", { count: hidden })}`}
        </End>
      </div>
      <AgentWords text={wordsOf(request)} />
    </>
  );
}

/** With what is not the same in all of them marked. */
function Compared({ lines, others }: { lines: readonly string[]; others: readonly (readonly string[])[] }) {
  const t = useTranslations("inbox.batch");
  return stretches(lines, others).map((stretch, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: stretches have no other name than their place
    <div key={place} className={stretch.isSame ? styles.same : styles.differs}>
      {!stretch.isSame && (
        <span className={styles.mark} role="img" aria-label={t("differs")} title={t("differs")}>
          ≠
        </span>
      )}
      <Lines lines={stretch.lines} />
    </div>
  ));
}

/** Tells when it has been on the screen. */
function End({ id, onSeen, children }: { id: string; onSeen: (id: string) => void; children: React.ReactNode }) {
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    return end.current ? watchEnd(end.current, 0, () => onSeen(id)) : undefined;
  }, [id, onSeen]);
  return (
    <p ref={end} className={styles.end}>
      {children}
    </p>
  );
}
