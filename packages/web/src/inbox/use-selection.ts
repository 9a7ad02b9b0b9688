import type { InboxEntry } from "interlock-client/inbox";
import { useCallback, useState } from "react";
import { useTranslations } from "use-intl";
import { useAnnounce } from "@/shell/announcer";
import { isWaiting, type Row } from "./list";
import { alike, type Misfit, MOST, misfitOf } from "./selection";

export interface Selection {
  /** In the order of the list; what is settled meanwhile falls out. */
  entries: readonly InboxEntry[];
  /** Whether anything was selected, though it may all be settled by now. */
  isBegun: boolean;
  /** Why the last one could not join. */
  refusal: string | null;
  toggle: (id: string) => void;
  /** All that are like those that are selected. */
  candidates: readonly InboxEntry[];
  all: () => void;
  clear: () => void;
}

export function useSelection(rows: readonly Row[]): Selection {
  const announce = useAnnounce();
  const words = useMisfitWords();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<string | null>(null);
  const waiting = rows.filter(isWaiting).map((row) => row.entry);
  const entries = waiting.filter((entry) => ids.has(entry.request_id));
  const candidates = entries.length ? alike(waiting, entries) : [];
  const refuse = (misfit: Misfit | "ended") => {
    setRefusal(words(misfit));
    announce(words(misfit));
  };
  const choose = (chosen: readonly InboxEntry[]) => {
    setRefusal(null);
    setIds(new Set(chosen.map((entry) => entry.request_id)));
  };
  return {
    entries,
    isBegun: ids.size > 0,
    refusal,
    candidates,
    all: () => choose(candidates),
    clear: useCallback(() => {
      setRefusal(null);
      setIds(new Set());
    }, []),
    toggle: (id) => {
      const without = entries.filter((entry) => entry.request_id !== id);
      if (without.length < entries.length) return choose(without);
      const entry = waiting.find((one) => one.request_id === id);
      const misfit = entry ? misfitOf(entry, entries) : "ended";
      if (!entry || misfit) return refuse(misfit ?? "ended");
      choose([...entries, entry]);
    },
  };
}

function useMisfitWords(): (misfit: Misfit | "ended") => string {
  const t = useTranslations("inbox.batch.misfit");
  return (misfit) => (misfit === "full" ? t("full", { count: MOST }) : t(misfit));
}
