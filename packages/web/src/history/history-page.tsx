import type { HistoryEntry } from "interlock-client/inbox";
import { useFormatter, useTranslations } from "use-intl";
import { Link, useLocation, useSearch } from "wouter";
import { Button } from "@/design/button";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { Filtering } from "./filter-bar";
import { addressOf, type Filters, filtersIn, isEmpty, NONE } from "./filters";
import styles from "./history-page.module.css";
import { Row } from "./row";
import { byDay } from "./telling";
import { entriesIn, useHistory } from "./use-history";

/** What was decided, the newest first. */
export function HistoryPage() {
  const t = useTranslations("history");
  const [, navigate] = useLocation();
  // Only for being drawn again: what it gives is decoded once too often.
  useSearch();
  const filters = filtersIn(location.search);
  const change = (changed: Filters) => navigate(addressOf(changed), { replace: true });
  return (
    <div className={styles.page}>
      <PageTitle name="history">{t("title")}</PageTitle>
      <p className={styles.what}>
        {t("what")} <Link href="/figures">{t("toFigures")}</Link>
      </p>
      <Filtering filters={filters} onChange={change} />
      <Found filters={filters} onClear={() => change(NONE)} />
    </div>
  );
}

function Found({ filters, onClear }: { filters: Filters; onClear: () => void }) {
  const t = useTranslations("history");
  const history = useHistory(filters);
  if (history.isPending) return <Loading />;
  if (history.isError) return <Failed error={history.error} onRetry={() => void history.refetch()} />;
  const entries = entriesIn(history.data);
  if (entries.length === 0 && !history.hasNextPage) return <Nothing isFiltered={!isEmpty(filters)} onClear={onClear} />;
  return (
    <>
      <div aria-busy={history.isPlaceholderData}>
        {byDay(entries).map((one) => (
          <Day key={one.day} {...one} />
        ))}
      </div>
      {history.hasNextPage ? (
        <Button disabled={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          {t("older")}
        </Button>
      ) : (
        <p className={styles.end}>{t("end")}</p>
      )}
    </>
  );
}

function Day({ day, entries }: { day: string; entries: HistoryEntry[] }) {
  const format = useFormatter();
  const named = format.dateTime(new Date(day), { weekday: "long", year: "numeric", month: "long", day: "numeric" });
  return (
    <section className={styles.day}>
      <h2>{named}</h2>
      <ul className={styles.list}>
        {entries.map((entry) => (
          <Row key={entry.request_id} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const t = useTranslations("history");
  return (
    <div className={styles.nothing}>
      <p>{isFiltered ? t("noMatch") : t("empty")}</p>
      {isFiltered ? <Button onClick={onClear}>{t("filter.clear")}</Button> : <Link href="/inbox">{t("toInbox")}</Link>}
    </div>
  );
}
