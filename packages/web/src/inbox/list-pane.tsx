import { useId, useMemo, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useLocation, useSearch } from "wouter";
import { Button } from "@/design/button";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { BatchBar } from "./batch-bar";
import { NoMatch, NothingWaits } from "./empty";
import { FilterBar } from "./filter-bar";
import { type Filters, filtersOf, isFiltered, searchOf } from "./filters";
import styles from "./inbox.module.css";
import { ListHead } from "./list-head";
import { RequestList } from "./request-list";
import { useKeptScroll } from "./use-kept-scroll";
import { type Listing, useList } from "./use-list";
import { useListKeys } from "./use-list-keys";
import { type Roving, useRoving } from "./use-roving";
import { type Selection, useSelection } from "./use-selection";

const UNFILTERED: Filters = filtersOf("");

/** The list with its filters. It lives for as long as it is on the screen: who leaves it finds it tidy. */
export function ListPane({ openId }: { openId: string | null }) {
  const t = useTranslations("inbox");
  const { filters, search, filter } = useFilters();
  const listing = useList(filters);
  const { rows, isPlaced } = listing.list;
  const element = useRef<HTMLDivElement>(null);
  const scroller = useKeptScroll(search, isPlaced);
  const roving = useRoving(
    element,
    useMemo(() => rows.map((row) => row.entry.request_id), [rows]),
    openId,
  );
  const selection = useSelection(rows);
  const selected = useMemo(() => new Set(selection.entries.map((entry) => entry.request_id)), [selection.entries]);
  const batch = useBatch(selection, roving);
  useListKeys({ roving, selection, search, review: batch.onReview });
  return (
    <section className={styles.list} aria-label={t("title")}>
      <Top isBeside={openId !== null} filters={filters} listing={listing} roving={roving} onFilter={filter} />
      <div ref={scroller} className={styles.scroller}>
        <State listing={listing} filters={filters} onClear={() => filter(UNFILTERED)} />
        <RequestList
          rows={rows}
          openId={openId}
          search={search}
          selected={selected}
          roving={roving}
          list={element}
          isPart={listing.list.cursor !== null}
          onSelect={selection.toggle}
        />
        <More listing={listing} />
      </div>
      <BatchBar selection={selection} {...batch} />
    </section>
  );
}

function useBatch(selection: Selection, roving: Roving) {
  const [isOpen, setOpen] = useState(false);
  const back = () => {
    // What opened it may have gone with what was selected.
    if (document.activeElement === document.body && roving.tabStop) roving.focus(roving.tabStop);
  };
  return {
    isOpen,
    onReview: () => setOpen(selection.entries.length > 0),
    onClose: () => {
      setOpen(false);
      requestAnimationFrame(back);
    },
  };
}

function useFilters() {
  const [path, navigate] = useLocation();
  const found = useSearch();
  const filters = useMemo(() => filtersOf(found), [found]);
  const filter = (next: Filters) => navigate(path + searchOf(next), { replace: true });
  return { filters, search: searchOf(filters), filter };
}

interface TopProps {
  isBeside: boolean;
  filters: Filters;
  listing: Listing;
  roving: Roving;
  onFilter: (filters: Filters) => void;
}

function Top({ isBeside, filters, listing, roving, onFilter }: TopProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(isFiltered(filters));
  const { rows } = listing.list;
  const agents = useMemo(() => [...new Set(rows.map((row) => row.entry.agent))], [rows]);
  const bar = { id, isOpen, isFiltered: isFiltered(filters), onToggle: () => setOpen(!isOpen) };
  return (
    <>
      <ListHead isBeside={isBeside} bar={bar} listing={listing} roving={roving} />
      <FilterBar
        id={id}
        filters={filters}
        agents={agents}
        isOpen={isOpen}
        onFilter={onFilter}
        onLeave={() => roving.tabStop && roving.focus(roving.tabStop)}
      />
    </>
  );
}

/** What stands where there are no rows. */
function State({ listing, filters, onClear }: { listing: Listing; filters: Filters; onClear: () => void }) {
  const { list, error, retry } = listing;
  if (error && !list.isPlaced) return <Failed error={error} onRetry={retry} />;
  if (!list.isPlaced) return <Loading />;
  if (list.rows.length > 0) return null;
  return isFiltered(filters) ? <NoMatch onClear={onClear} /> : <NothingWaits />;
}

function More({ listing }: { listing: Listing }) {
  const t = useTranslations("inbox");
  const { list, error, more, isLoadingMore } = listing;
  if (list.cursor === null) return null;
  return (
    <div className={styles.more}>
      {error && <p role="alert">{error.message}</p>}
      <Button onClick={more} disabled={isLoadingMore}>
        {t("more", { count: list.rows.length, total: list.total })}
      </Button>
    </div>
  );
}
