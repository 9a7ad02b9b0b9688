import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { InDialog } from "@/keys/use-keys";
import styles from "./dialog.module.css";

interface Props {
  title: string;
  onClose: () => void;
  /** Esc does not close it: there is nothing to go on with without it. */
  isStuck?: boolean;
  /** What lies behind it cannot be read. */
  isCover?: boolean;
  /** As wide and high as the window allows. */
  wide?: boolean;
  children: ReactNode;
}

/** Whoever was writing goes on where they were: Chromium gives a field the focus back, but no caret to write at. */
function caretOf(field: Element | null): () => void {
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return () => {};
  const at = field.selectionEnd;
  return () => {
    if (document.activeElement !== field) return;
    field.blur();
    field.focus({ preventScroll: true });
    if (at !== null) field.setSelectionRange(at, at);
  };
}

/** A modal over the page: the browser holds the focus in it and gives it back. Esc closes, and answers nothing. */
export function Dialog({ title, onClose, isStuck = false, isCover = false, wide = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before it leaves the page, or the browser could not give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    const goOn = caretOf(document.activeElement);
    element?.showModal();
    // Where the first thing to press is its last, the browser has scrolled there.
    if (element) element.scrollTop = 0;
    return () => {
      element?.close();
      // In this very task: what is typed before it would be lost.
      queueMicrotask(goOn);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${wide ? styles.wide : ""} ${isCover ? styles.cover : ""}`}
      aria-labelledby={heading}
      onCancel={(event) => isStuck && event.preventDefault()}
      onClose={() => {
        if (dialog.current?.open) return;
        // Browsers let a second Esc through.
        if (isStuck) dialog.current?.showModal();
        else onClose();
      }}
    >
      <h2 id={heading} className={styles.title}>
        {title}
      </h2>
      <InDialog value={true}>{children}</InDialog>
    </dialog>
  );
}
