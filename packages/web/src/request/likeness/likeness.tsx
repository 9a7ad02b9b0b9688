import type { ApprovedCall, Difference, Similar } from "interlock-client/inbox";
import { useId, useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Button } from "@/design/button";
import { Heading, Region } from "@/design/outline";
import { lazyDialog } from "@/shell/lazy-page";
import { Revealed } from "@/text/revealed";
import { useMoment } from "../moment";
import { useReview } from "../review";
import { Lines } from "../views/lines";
import { useSimilar } from "./api";
import styles from "./likeness.module.css";

const RuleDialog = lazyDialog(async () => (await import("./rule-dialog")).RuleDialog);

/** Told apart without colour. */
const SIGNS = { added: "+", removed: "−", changed: "≠" } as const;
/** A value of more lines is folded; nothing of what will run ever is. */
const SHORT = 6;
/** So many differences are listed; calls with thousands of arguments may differ in all of them. */
const LISTED = 50;

/** How often such a call was decided before, and what is different this time. */
export function Likeness() {
  const t = useTranslations("request.likeness");
  const { request, situation } = useReview();
  const heading = useId();
  const { data } = useSimilar(request.request_id, situation === "open");
  if (situation !== "open" || !data || data.earlier === 0) return null;
  return (
    <Region className={styles.likeness} aria-labelledby={heading} data-act="likeness">
      <Heading id={heading} className={styles.heading}>
        {t("title")}
      </Heading>
      <Count similar={data} />
      {data.last && <Differences last={data.last} />}
      <WayOut similar={data} />
    </Region>
  );
}

function Count({ similar: { earlier, approved, whole } }: { similar: Similar }) {
  const t = useTranslations("request.likeness");
  const text = whole ? t("count", { number: earlier + 1, earlier, approved }) : t("countMany", { earlier, approved });
  return <p className={styles.text}>{text}</p>;
}

function Differences({ last }: { last: ApprovedCall }) {
  const t = useTranslations("request.likeness");
  const moment = useMoment();
  const how = { name: last.by, time: moment(last.at) };
  const link = <Link href={`/requests/${encodeURIComponent(last.request_id)}`}>{t("lastCall")}</Link>;
  const more = last.differences.length - LISTED;
  if (last.differences.length === 0) {
    return (
      <p className={styles.text}>
        {t("same", how)} {link}
      </p>
    );
  }
  return (
    <>
      <p className={styles.text}>
        {t("differs", how)} {link}
      </p>
      <ul className={styles.differences} data-aside>
        {last.differences.slice(0, LISTED).map((one) => (
          <OneDifference key={one.name} {...one} />
        ))}
      </ul>
      {more > 0 && <p className={styles.text}>{t("more", { count: more })}</p>}
    </>
  );
}

function OneDifference({ name, change, before }: Difference) {
  const t = useTranslations("request.likeness");
  return (
    <li className={`${styles.difference} ${styles[change]}`}>
      <span className={styles.sign} aria-hidden="true">
        {SIGNS[change]}
      </span>
      <div className={styles.what}>
        <span className={styles.name}>
          <Revealed text={name} />
        </span>{" "}
        <strong className={styles.change}>{t(`change.${change}`)}</strong>
        {before.length > SHORT && (
          <details>
            <summary>{t("beforeLong", { lines: before.length })}</summary>
            <Lines lines={before} />
          </details>
        )}
        {before.length > 0 && before.length <= SHORT && (
          <div className={styles.before}>
            <span className={styles.was}>{t("before")}</span> <Lines lines={before} />
          </div>
        )}
      </div>
    </li>
  );
}

/** What there is against being asked the same again and again. */
function WayOut({ similar }: { similar: Similar }) {
  const t = useTranslations("request.likeness");
  const { request } = useReview();
  const [isOpen, setOpen] = useState(false);
  if (similar.may_be_ruled) {
    return (
      <>
        <Button onClick={() => setOpen(true)}>{t("rule")}</Button>
        {isOpen && (
          <RuleDialog requestId={request.request_id} tool={request.tool ?? ""} onClose={() => setOpen(false)} />
        )}
      </>
    );
  }
  const isTedious = similar.approved >= TEDIOUS && request.allow_remember && request.allowed.includes("accept");
  return isTedious ? <p className={styles.text}>{t("remember")}</p> : null;
}

const TEDIOUS = 3;
