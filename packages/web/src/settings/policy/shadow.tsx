import type { ShadowRow } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import { useDay } from "../use-day";
import { useShadowReport } from "./api";
import styles from "./policy.module.css";

/** Where a version in shadow, and what counted, said different things. */
export function Shadow({ number }: { number: number }) {
  const t = useTranslations("settings.policy.shadow");
  const day = useDay();
  const query = useShadowReport(number);
  if (query.isPending) return <Loading />;
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  const { looked_at, differ, since, rows } = query.data;
  if (looked_at === 0) return <p className={styles.report}>{t("nothing")}</p>;
  return (
    <section className={styles.report} aria-label={t("title", { version: number })}>
      <p>{t("looked", { count: looked_at, differ, since: day(since) })}</p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t("count")}</th>
            <th scope="col">{t("active")}</th>
            <th scope="col">{t("would")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.active} ${row.shadow}`} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row }: { row: ShadowRow }) {
  const t = useTranslations("settings.policy.shadow");
  const words = useTranslations("settings.policy.replay");
  return (
    <tr data-risky={(row.shadow === "allow" && row.active !== "allow") || undefined}>
      <td className={styles.number}>{row.count}</td>
      <td>
        {t(`was.${row.active}`)}
        {row.samples.length > 0 && (
          <details>
            <summary>{words("samples", { count: row.samples.length })}</summary>
            <ul>
              {row.samples.map((one) => (
                <li key={one.request_id}>
                  <Link href={`/requests/${encodeURIComponent(one.request_id)}`}>
                    <Revealed text={one.tool || one.request_id} />
                  </Link>{" "}
                  <span className={styles.rule}>
                    <Revealed text={one.rule ?? one.active_rule ?? ""} />
                  </span>
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
      <td>
        {words(`ruling.${row.shadow}`)}
        {row.failed > 0 && <p className={styles.rule}>{t("failed", { count: row.failed })}</p>}
      </td>
    </tr>
  );
}
