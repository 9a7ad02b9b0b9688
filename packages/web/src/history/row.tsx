import type { HistoryEntry } from "interlock-client/inbox";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { Details } from "./details";
import { FACES } from "./filters";
import styles from "./row.module.css";
import { endingOf, readFor, SIGNS, whoOf } from "./telling";

const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;

/** One decision; opened, everything that is known of it. */
export function Row({ entry }: { entry: HistoryEntry }) {
  const format = useFormatter();
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={styles.row}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.summary}>
          <ChevronRight size={14} aria-hidden="true" className={styles.sign} />
          <time className={styles.time} dateTime={entry.at}>
            {format.dateTime(new Date(entry.at), CLOCK)}
          </time>
          <span className={styles.who}>
            <Who entry={entry} />
          </span>
          <span className={styles.headline}>
            <Headline entry={entry} />
          </span>
          <Ending entry={entry} />
        </summary>
        {isOpen && <Details entry={entry} />}
      </details>
    </li>
  );
}

function Headline({ entry: { kind, headline } }: { entry: HistoryEntry }) {
  const kinds = useTranslations("shell.kind");
  return (
    <>
      {kind !== "approval" && <span className={styles.kind}>{kinds(kind)} · </span>}
      <Revealed text={headline} />
    </>
  );
}

function Who({ entry }: { entry: HistoryEntry }) {
  const t = useTranslations("history");
  const who = whoOf(entry);
  const face = FACES.find((one) => one === entry.source);
  switch (who.type) {
    case "person":
      return (
        <>
          {who.name}
          {entry.source && <span className={styles.face}> · {face ? t(`face.${face}`) : entry.source}</span>}
        </>
      );
    case "grant":
      return t("grantOf", { name: who.name });
    case "policy":
      return t.rich("policyOf", { version: who.version, rule: () => <Revealed key="rule" text={who.rule} /> });
    case "saved":
      return t("savedValues");
    default:
      return t(who.type);
  }
}

function Ending({ entry }: { entry: HistoryEntry }) {
  const t = useTranslations("history");
  const ending = endingOf(entry);
  const read = readFor(entry.dwell_ms);
  return (
    <>
      <span className={styles.ending} data-ending={ending}>
        <span aria-hidden="true">{SIGNS[ending]}</span> {t(`outcome.${ending}`)}
      </span>
      <span className={styles.read}>{read && t(`read.${read.unit}`, { count: read.count })}</span>
    </>
  );
}
