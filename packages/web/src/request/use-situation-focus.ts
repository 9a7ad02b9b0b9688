import { type RefObject, useEffect, useRef } from "react";
import { useAnnounce } from "@/shell/announcer";
import type { Situation } from "./model/outcome";
import { useReview } from "./review";

const URGENCY: Partial<Record<Situation, "polite" | "assertive">> = {
  receipt: "polite",
  voted: "polite",
  settled: "polite",
  expired: "assertive",
  taken: "assertive",
  offline: "assertive",
  deleted: "assertive",
};

/** What happened takes the place of the controls: it is told, and the focus that they had goes to it. */
export function useSituationFocus(root: RefObject<HTMLDivElement | null>): void {
  const { situation, embedded } = useReview();
  const announce = useAnnounce();
  const last = useRef(situation);
  const hadFocus = useRef(false);
  useEffect(() => {
    const look = () => {
      hadFocus.current = root.current?.contains(document.activeElement) ?? false;
    };
    document.addEventListener("focusin", look);
    return () => document.removeEventListener("focusin", look);
  }, [root]);
  useEffect(() => {
    if (last.current === situation) return;
    last.current = situation;
    const words = root.current?.querySelector<HTMLElement>('[data-act="state"]');
    const urgency = URGENCY[situation];
    if (urgency && words?.textContent) announce(words.textContent, urgency);
    if (!mayMove(root.current, embedded, hadFocus.current)) return;
    (words ?? afterReturn(root.current))?.focus({ preventScroll: true });
  }, [situation, embedded, root, announce]);
}

/** Only what would otherwise be lost, or was on the bar: nobody is torn from what they write. */
function mayMove(root: HTMLElement | null, embedded: boolean, hadFocus: boolean): boolean {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return hadFocus || !embedded;
  return !!root?.contains(focused) && !focused.matches("textarea, input, select, .cm-content");
}

/**
 * It can be answered again: to what is wrong, else to what is asked. Never to what decides, where the next Space, meant
 * to scroll, would be an answer.
 */
function afterReturn(root: HTMLElement | null): HTMLElement | null {
  const places = ['[aria-invalid="true"]', '[data-act="problem"]', "h1"];
  const found = places.map((place) => root?.querySelector<HTMLElement>(place));
  return found.find((one) => !!one) ?? root;
}
