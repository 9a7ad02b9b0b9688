import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Figures, PersonFigures } from "interlock-client/wire";
import { type ReactNode, useId, useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { Link } from "wouter";
import { get } from "@/api/transport";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { Bars } from "./bars";
import styles from "./figures.module.css";

const WEEKS = [4, 8, 26] as const;

/** What was asked and answered by week: of oneself, and for admins of everybody. */
export function FiguresPage() {
  const t = useTranslations("figures");
  const [weeks, setWeeks] = useState<number>(8);
  const [personId, setPersonId] = useState<string | null>(null);
  const figures = useQuery({
    queryKey: ["figures", weeks],
    queryFn: ({ signal }) => get<Figures>("/api/v1/figures", { weeks }, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const people = figures.data?.people ?? [];
  const person = people.find((one) => one.user_id === personId) ?? people[0];
  return (
    <div className={styles.page}>
      <PageTitle name="figures">{t("title")}</PageTitle>
      <p className={styles.what}>
        {t("what")} <Link href="/history">{t("toHistory")}</Link>
      </p>
      <div className={styles.choices}>
        {people.length > 1 && (
          <Choice label={t("person")} value={person?.user_id ?? ""} onChange={setPersonId}>
            {people.map((one) => (
              <option key={one.user_id} value={one.user_id}>
                {one.name}
              </option>
            ))}
          </Choice>
        )}
        <Choice label={t("weeks")} value={String(weeks)} onChange={(value) => setWeeks(Number(value))}>
          {WEEKS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Choice>
      </div>
      {figures.isPending && <Loading />}
      {figures.isError && <Failed error={figures.error} onRetry={() => void figures.refetch()} />}
      {figures.data && !figures.data.whole && <p>{t("partial")}</p>}
      {person && <OnePerson person={person} />}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <label className={styles.choice}>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </label>
  );
}

function OnePerson({ person }: { person: PersonFigures }) {
  const t = useTranslations("figures");
  if (person.weeks.every((week) => week.asks === 0 && week.answers === 0)) return <p>{t("empty")}</p>;
  return (
    <>
      <Asks person={person} />
      <ShareOfYes person={person} />
      <Drills person={person} />
      <Reading person={person} />
    </>
  );
}

/** A week is a day of the calendar: it is the same one in every zone. */
function useWeek(): (week: string) => string {
  const format = useFormatter();
  return (week) => format.dateTime(new Date(`${week}T00:00:00Z`), { month: "short", day: "numeric", timeZone: "UTC" });
}

function Asks({ person }: { person: PersonFigures }) {
  const t = useTranslations("figures.asks");
  const common = useTranslations("figures");
  const format = useFormatter();
  const week = useWeek();
  const series = [
    { name: t("people"), values: person.weeks.map((w) => w.asks - w.by_grant - w.by_rule - w.unanswered) },
    { name: t("grant"), values: person.weeks.map((w) => w.by_grant) },
    { name: t("rule"), values: person.weeks.map((w) => w.by_rule) },
    { name: t("unanswered"), values: person.weeks.map((w) => w.unanswered) },
  ];
  const labels = person.weeks.map((w) => week(w.week));
  return (
    <Figure title={t("title")} what={t("what", { name: person.name })}>
      <Bars title={t("title")} labels={labels} series={series} format={(value) => format.number(value)} />
      <Table
        title={t("title")}
        head={[common("week"), ...series.map((one) => one.name), t("all"), t("shadow")]}
        rows={person.weeks.map((w, place) => [
          labels[place] ?? "",
          ...series.map((one) => format.number(one.values[place] ?? 0)),
          format.number(w.asks),
          format.number(w.by_shadow ?? 0),
        ])}
      />
    </Figure>
  );
}

function ShareOfYes({ person }: { person: PersonFigures }) {
  const t = useTranslations("figures.yes");
  const common = useTranslations("figures");
  const format = useFormatter();
  const week = useWeek();
  const percent = (value: number) => format.number(value, { style: "percent", maximumFractionDigits: 0 });
  const shares = person.weeks.map((w) => (w.approvals > 0 ? w.yes / w.approvals : null));
  const labels = person.weeks.map((w) => week(w.week));
  return (
    <Figure title={t("title")} what={t("what", { name: person.name })}>
      <Bars
        title={t("title")}
        labels={labels}
        series={[{ name: t("share"), values: shares.map((share) => share ?? 0) }]}
        top={1}
        format={percent}
      />
      <Table
        title={t("title")}
        head={[common("week"), t("share"), t("of"), t("contradicted")]}
        rows={person.weeks.map((w, place) => {
          const share = shares[place] ?? null;
          return [
            labels[place] ?? "",
            share === null ? t("none") : percent(share),
            format.number(w.approvals),
            format.number(w.votes_contradicted ?? 0),
          ];
        })}
      />
    </Figure>
  );
}

/** Nothing where there were none: a server has them only where its operator wants them. */
function Drills({ person }: { person: PersonFigures }) {
  const t = useTranslations("figures.drills");
  const common = useTranslations("figures");
  const format = useFormatter();
  const week = useWeek();
  const count = (value: number) => format.number(value);
  if (person.weeks.every((w) => w.drills === 0)) return null;
  const series = [
    { name: t("caught"), values: person.weeks.map((w) => w.drills_caught) },
    { name: t("missed"), values: person.weeks.map((w) => w.drills - w.drills_caught) },
  ];
  const labels = person.weeks.map((w) => week(w.week));
  return (
    <Figure title={t("title")} what={t("what", { name: person.name })}>
      <Bars title={t("title")} labels={labels} series={series} format={count} />
      <Table
        title={t("title")}
        head={[common("week"), ...series.map((one) => one.name)]}
        rows={person.weeks.map((_, place) => [
          labels[place] ?? "",
          ...series.map((one) => count(one.values[place] ?? 0)),
        ])}
      />
    </Figure>
  );
}

function Reading({ person }: { person: PersonFigures }) {
  const t = useTranslations("figures.reading");
  const format = useFormatter();
  const longest = Math.max(...person.reading.map((one) => one.longest ?? 0));
  const name = (end: number | null) =>
    end === null ? t("beyond", { count: format.number(longest) }) : t("upTo", { count: format.number(end) });
  const short = (end: number | null) => (end === null ? "∞" : format.number(end, { notation: "compact" }));
  const seconds = (ms: number) => ms / 1_000;
  const time = (value: number) => t("seconds", { count: format.number(value, { maximumFractionDigits: 1 }) });
  return (
    <Figure title={t("title")} what={t("what", { name: person.name })}>
      <Bars
        title={t("title")}
        labels={person.reading.map((one) => short(one.longest))}
        series={[{ name: t("time"), values: person.reading.map((one) => seconds(one.dwell_ms ?? 0)) }]}
        format={time}
      />
      <Table
        title={t("title")}
        head={[t("length"), t("time"), t("answers")]}
        rows={person.reading.map((one) => [
          name(one.longest),
          one.dwell_ms === null ? t("none") : time(seconds(one.dwell_ms)),
          format.number(one.answers),
        ])}
      />
    </Figure>
  );
}

function Figure({ title, what, children }: { title: string; what: string; children: ReactNode }) {
  const heading = useId();
  return (
    <section className={styles.figure} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <p className={styles.what}>{what}</p>
      <div className={styles.pair}>{children}</div>
    </section>
  );
}

function Table({ title, head, rows }: { title: string; head: readonly string[]; rows: readonly string[][] }) {
  const t = useTranslations("figures");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than a phone is scrolled to by keys, too
    <section className={styles.scroller} aria-label={t("table", { title })} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {head.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first = "", ...rest]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {rest.map((one, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name than its place
                <td key={place}>{one}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
