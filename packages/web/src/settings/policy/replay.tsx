import type { ReplayReport, ReplayRow } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Revealed } from "@/text/revealed";
import { happenedIn, rowsOf } from "./cells";
import styles from "./policy.module.css";

/** What the policy would have said of what is on record. Its first row is what nobody wants to find out later. */
export function Replay({ report }: { report: ReplayReport }) {
  const t = useTranslations("settings.policy.replay");
  const left = Object.entries(report.not_replayed);
  const errors = Object.entries(report.errors);
  return (
    <section className={styles.report} aria-label={t("title")}>
      <p>
        {t("looked", { count: report.looked_at })} {t("asks", { saved: report.asks_saved, added: report.asks_added })}{" "}
        {!report.whole && t("notWhole")}
      </p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t("count")}</th>
            <th scope="col">{t("happened")}</th>
            <th scope="col">{t("would")}</th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(report.rows).map((row) => (
            <Row key={`${row.happened} ${row.then}`} row={row} />
          ))}
        </tbody>
      </table>
      {errors.length > 0 && (
        <>
          <h3>{t("errors")}</h3>
          <ul>
            {errors.map(([rule, count]) => (
              <li key={rule}>
                {rule ? <Revealed text={rule} /> : t("whole")}: {count}
              </li>
            ))}
          </ul>
        </>
      )}
      {left.length > 0 && (
        <>
          <h3>{t("left")}</h3>
          <ul>
            {left.map(([why, count]) => (
              <li key={why}>
                {t(LEFT[why] ?? "leftOther", { why })}: {count}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const LEFT: Readonly<Record<string, "leftKind" | "leftDoubt" | "leftDeleted" | "leftGroups">> = {
  "not an approval": "leftKind",
  "about a call that was cut short": "leftDoubt",
  "the conversation was deleted": "leftDeleted",
  "the groups of its owner were not kept then": "leftGroups",
};

function Row({ row }: { row: ReplayRow }) {
  const t = useTranslations("settings.policy.replay");
  const isRisky = row.happened === "refused" && row.then === "allow";
  const happened = happenedIn(row.happened);
  return (
    <tr data-risky={(isRisky && row.count > 0) || undefined}>
      <td className={styles.number}>{row.count}</td>
      <td>
        {happened ? t(`outcome.${happened}`) : row.happened}
        {row.samples.length > 0 && (
          <details open={isRisky}>
            <summary>{t("samples", { count: row.samples.length })}</summary>
            <ul>
              {row.samples.map((one) => (
                <li key={one.request_id}>
                  <Link href={`/requests/${encodeURIComponent(one.request_id)}`}>
                    <Revealed text={one.action || one.tool || one.request_id} />
                  </Link>{" "}
                  {one.rule && (
                    <span className={styles.rule}>
                      <Revealed text={one.rule} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
      <td>{t(`ruling.${row.then}`)}</td>
    </tr>
  );
}
