import { useLocation } from "wouter";
import { useKeys } from "@/keys/use-keys";
import type { Roving } from "./use-roving";
import type { Selection } from "./use-selection";

interface Props {
  roving: Roving;
  selection: Selection;
  search: string;
  review: () => void;
}

/** The letters of the list; arrows and Enter are those of every list of links. */
export function useListKeys({ roving, selection, search, review }: Props): void {
  const [, navigate] = useLocation();
  useKeys({
    j: () => roving.move(1),
    k: () => roving.move(-1),
    o: () => {
      if (roving.tabStop) navigate(`/requests/${encodeURIComponent(roving.tabStop)}${search}`);
    },
    x: () => {
      if (roving.tabStop) selection.toggle(roving.tabStop);
    },
    b: review,
  });
  useKeys({ Escape: selection.clear }, selection.isBegun || selection.refusal !== null);
}
