import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { AsPart } from "@/design/outline";
import { isComposing } from "@/keys/use-keys";
import styles from "./request-view.module.css";
import { type Review, useReview } from "./review";
import { type Actions, useActions } from "./use-actions";
import { useRequestKeys } from "./use-request-keys";
import { useSituationFocus } from "./use-situation-focus";

/** Around what is shown and the bar below it: the keys, and where the focus goes. */
export function Frame({ rootRef, children }: { rootRef: RefObject<HTMLDivElement | null>; children: ReactNode }) {
  const review = useReview();
  const actions = useActions();
  const { request, embedded } = review;
  const isFocused = useFocused(rootRef);
  useRequestKeys(!embedded || isFocused);
  useSituationFocus(rootRef);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears what the fields inside of it let pass
    <div
      ref={rootRef}
      className={embedded ? styles.card : styles.page}
      data-request={request.request_id}
      data-review={request.request_id}
      tabIndex={-1}
      onKeyDown={(event) => press(event.nativeEvent, review, actions)}
    >
      <AsPart value={embedded}>{children}</AsPart>
    </div>
  );
}

/** Whether the focus is in it, or on what holds nothing but it. */
function useFocused(root: RefObject<HTMLDivElement | null>): boolean {
  const [isFocused, setFocused] = useState(false);
  useEffect(() => {
    const look = () => {
      const focused = document.activeElement;
      const isAround = focused !== null && focused === root.current?.parentElement && focused.childElementCount === 1;
      setFocused(isAround || (root.current?.contains(focused) ?? false));
    };
    look();
    document.addEventListener("focusin", look);
    document.addEventListener("focusout", look);
    return () => {
      document.removeEventListener("focusin", look);
      document.removeEventListener("focusout", look);
    };
  }, [root]);
  return isFocused;
}

/** Keys that count in fields too. */
function press(key: KeyboardEvent, review: Review, actions: Actions): void {
  if (key.repeat || isComposing(key)) return;
  if (key.key === "Escape" && (review.mode !== "look" || review.over)) actions.close();
  const isSend = key.key === "Enter" && (key.metaKey || key.ctrlKey);
  if (isSend && review.situation === "open" && !review.over && !review.isLate(key)) send(review, actions);
}

/** What may be sent from the keyboard at once: never a yes to a call, to an edit, or to a dangerous option. */
function send({ mode, request, code }: Review, actions: Actions): void {
  if (mode === "refuse") actions.refuse();
  if (mode === "reply") actions.reply();
  if (mode === "dismiss") actions.dismiss();
  if (mode === "look" && request.kind !== "approval" && code === null) actions.answer();
}
