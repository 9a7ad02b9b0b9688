import type { ToolEnd } from "interlock-client/events";
import type { HistoryEntry } from "interlock-client/inbox";
import type { AuditEntry } from "interlock-client/wire";
import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useMoment } from "@/request/moment";
import { RequestView } from "@/request/request-view";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import { callOf, isSettling, MOST_ENTRIES, useChain } from "./chain";
import styles from "./details.module.css";
import type { en } from "./messages";
import { useResult } from "./result";

/** What was shown and answered, as its own page has it; and below it what came of it, and where it is recorded. */
export function Details({ entry }: { entry: HistoryEntry }) {
  const t = useTranslations("history.details");
  const { request_id: id, conversation_id: conversation } = entry;
  const chain = useChain(conversation, id);
  const settled = chain.data?.find((one) => isSettling(one, id));
  return (
    <div className={styles.details}>
      <RequestView id={id} embedded />
      <Part title={t("digest")}>
        {entry.digest ? <code className={styles.hash}>{entry.digest}</code> : <p className="quiet">{t("noDigest")}</p>}
      </Part>
      {entry.kind === "approval" && chain.data && (
        <Part title={t("result")}>
          <Result conversation={conversation} id={id} callId={callOf(settled)} />
        </Part>
      )}
      <Part title={t("chain")}>
        {chain.isPending && <Loading />}
        {chain.isError && <p role="alert">{t("failed", { message: chain.error.message })}</p>}
        {chain.data && <Chain entries={chain.data} />}
      </Part>
      <p className={styles.links}>
        <Link href={`/requests/${encodeURIComponent(id)}`}>{t("toRequest")}</Link>
        <Link href={`/chat/${encodeURIComponent(conversation)}`}>{t("toThread")}</Link>
      </p>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Result({ conversation, id, callId }: { conversation: string; id: string; callId: string }) {
  const t = useTranslations("history.details");
  const result = useResult(conversation, id, callId);
  if (callId && result.isPending) return <Loading />;
  if (result.isError) return <p role="alert">{t("failed", { message: result.error.message })}</p>;
  return result.data ? <Given end={result.data} /> : <p className="quiet">{t("noResult")}</p>;
}

function Given({ end: { status, output } }: { end: ToolEnd }) {
  const t = useTranslations("history.details");
  return (
    <>
      <p>{t(`resultState.${status}`)}</p>
      <div className={styles.output}>{output ? <Revealed text={output} multiline /> : t("resultNothing")}</div>
    </>
  );
}

function Chain({ entries }: { entries: AuditEntry[] }) {
  const t = useTranslations("history.details");
  if (entries.length === 0) return <p className="quiet">{t("noChain", { count: MOST_ENTRIES })}</p>;
  return (
    <>
      <p className="quiet">{t("chainWhat")}</p>
      <ol className={styles.chain}>
        {entries.map((entry) => (
          <Entry key={entry.number} entry={entry} />
        ))}
      </ol>
    </>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const t = useTranslations("history");
  const moment = useMoment();
  const name = entry.action.replace(/^(request|effect)\./, "");
  const known = isKnown(name) ? t(`action.${name}`) : null;
  return (
    <li className={styles.link}>
      <p>
        <strong>{t("details.entry", { number: entry.number })}</strong> <code>{entry.action}</code>{" "}
        {known && `(${known}) `}
        <span className="quiet">
          {t("details.by", { actor: entry.actor })} · {moment(entry.at)}
        </span>
      </p>
      <p>
        <span className="quiet">{t("details.hash")}</span> <code className={styles.hash}>{entry.hash}</code>
      </p>
      <details>
        <summary>{t("details.data")}</summary>
        <div className={styles.output}>
          <Revealed text={JSON.stringify(entry.data, null, 2)} multiline />
        </div>
      </details>
    </li>
  );
}

const KNOWN = [
  "answered",
  "cancelled",
  "expired",
  "extended",
  "intended",
  "done",
  "failed",
  "in_doubt",
  "waiting",
  "retry",
];

function isKnown(name: string): name is keyof typeof en.action {
  return KNOWN.includes(name);
}
