import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { useServerNow } from "@/api/clock";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { PageTitle } from "@/shell/page-title";
import styles from "./inbox.module.css";
import { isUntidy } from "./list";
import type { Listing } from "./use-list";
import type { Roving } from "./use-roving";

interface Props {
  /** Beside an open request, whose name is the page's. */
  isBeside: boolean;
  bar: { id: string; isOpen: boolean; isFiltered: boolean; onToggle: () => void };
  listing: Listing;
  roving: Roving;
}

export function ListHead({ isBeside, bar, listing, roving }: Props) {
  const t = useTranslations("inbox");
  return (
    <div className={styles.head}>
      <Heading isBeside={isBeside}>{t("title")}</Heading>
      <Refresh listing={listing} roving={roving} />
      <Button
        className={styles.toggle}
        aria-expanded={bar.isOpen}
        aria-controls={bar.id}
        look={bar.isFiltered ? "soft" : "plain"}
        onClick={bar.onToggle}
      >
        <SlidersHorizontal size={16} aria-hidden="true" /> {bar.isFiltered ? t("filtersOn") : t("filters")}
      </Button>
    </div>
  );
}

function Heading({ isBeside, children }: { isBeside: boolean; children: ReactNode }) {
  if (isBeside) return <p className={styles.beside}>{children}</p>;
  return <PageTitle name="inbox">{children}</PageTitle>;
}

/** Newcomers and another order come when they are asked for. */
function Refresh({ listing, roving }: { listing: Listing; roving: Roving }) {
  const { list, show, tidy } = listing;
  const t = useTranslations("inbox");
  const announce = useAnnounce();
  const now = useServerNow(5_000);
  const box = useRef<HTMLDivElement>(null);
  const next = useNextFocus(listing, roving, box);
  const fresh = list.newcomers.length;
  return (
    <div ref={box} className={styles.refresh}>
      {fresh > 0 && (
        <Button
          look="soft"
          title={t("freshTitle")}
          onClick={() => {
            next(new Set(list.newcomers.map((row) => row.entry.request_id)));
            announce(t("shown", { count: fresh }));
            show();
          }}
        >
          {t("fresh", { count: fresh })}
        </Button>
      )}
      {fresh === 0 && isUntidy(list, now) && (
        <Button
          title={t("tidyTitle")}
          onClick={() => {
            next(new Set());
            announce(t("tidied"));
            tidy();
          }}
        >
          {t("tidy")}
        </Button>
      )}
    </div>
  );
}

/** The button goes with what it did: the focus goes to the first of these rows, else to the one that was last reached. */
function useNextFocus(listing: Listing, roving: Roving, box: RefObject<HTMLElement | null>) {
  const wanted = useRef<ReadonlySet<string> | null>(null);
  const { rows } = listing.list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the rows that came of it
  useEffect(() => {
    if (!wanted.current) return;
    const first = rows.find((row) => wanted.current?.has(row.entry.request_id));
    wanted.current = null;
    const id = first?.entry.request_id ?? roving.tabStop;
    if (id) roving.focus(id);
    else box.current?.closest("section")?.querySelector<HTMLElement>("h1")?.focus();
  }, [rows]);
  return (ids: ReadonlySet<string>) => {
    wanted.current = ids;
  };
}
