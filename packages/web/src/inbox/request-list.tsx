import { type KeyboardEvent, type MouseEvent, memo, type RefObject, useId } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { useServerNow } from "@/api/clock";
import { usePerson } from "@/api/session";
import { GROUPS, type Group } from "./groups";
import styles from "./inbox.module.css";
import { isWaiting, type Row } from "./list";
import { RequestRow } from "./row";
import { useRowTexts } from "./row-texts";
import type { Roving } from "./use-roving";

interface Props {
  rows: readonly Row[];
  openId: string | null;
  /** What narrows the list stays in the address of a request. */
  search: string;
  selected: ReadonlySet<string>;
  roving: Roving;
  list: RefObject<HTMLDivElement | null>;
  /** More wait than are listed. */
  isPart: boolean;
  onSelect: (id: string) => void;
}

export const RequestList = memo(function RequestList(props: Props) {
  const { rows, roving, list } = props;
  const now = useServerNow();
  const open = useOpening();
  const press = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : null;
    if (by === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    roving.move(by);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears what is done to the links in it
    <div ref={list} onKeyDown={press} onClick={open}>
      {GROUPS.map((group) => (
        <GroupOfRows key={group} group={group} now={now} {...props} rows={rows.filter((row) => row.group === group)} />
      ))}
    </div>
  );
});

/** A plain click stays on the page; any other is the browser's. */
function useOpening(): (event: MouseEvent) => void {
  const [, navigate] = useLocation();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain = event.button === 0 && !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (!link || !isPlain) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  };
}

function GroupOfRows({ group, now, rows, isPart, ...props }: Props & { group: Group; now: number }) {
  const t = useTranslations("inbox");
  const format = useFormatter();
  const heading = useId();
  if (rows.length === 0) return null;
  const count = rows.filter(isWaiting).length;
  const spelled = `${format.number(count)}${isPart ? "+" : ""}`;
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading} className={styles.group}>
        {t(`group.${group}`)}{" "}
        <span className={styles.total} aria-hidden="true">
          {spelled}
        </span>
        <span className="only-read-aloud">, {t("waiting", { count: spelled })}</span>
      </h2>
      <ul className={styles.rows}>
        <Rows rows={rows} now={now} isPart={isPart} {...props} />
      </ul>
    </section>
  );
}

function Rows({ now, rows, openId, search, selected, roving, onSelect }: Props & { now: number }) {
  const { username } = usePerson();
  const texts = useRowTexts(username);
  const select = useTranslations("inbox")("select");
  return rows.map((row) => {
    const { entry } = row;
    const id = entry.request_id;
    return (
      <RequestRow
        key={id}
        entry={entry}
        {...texts(row, now)}
        href={`/requests/${encodeURIComponent(id)}${search}`}
        isOpen={id === openId}
        isTabStop={id === roving.tabStop}
        isSelected={selected.has(id)}
        select={select}
        onReached={roving.reached}
        onSelect={onSelect}
      />
    );
  });
}
