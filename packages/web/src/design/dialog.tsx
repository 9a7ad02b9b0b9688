import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { InDialog } from "@/keys/use-keys";
import styles from "./dialog.module.css";

interface Props {
  title: string;
  onClose: () => void;
  /** As wide and high as the window allows. */
  wide?: boolean;
  children: ReactNode;
}

/** A modal over the page: the browser holds the focus in it and gives it back. Esc closes, and answers nothing. */
export function Dialog({ title, onClose, wide = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before it leaves the page, or the browser could not give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${wide ? styles.wide : ""}`}
      aria-labelledby={heading}
      onClose={() => {
        if (!dialog.current?.open) onClose();
      }}
    >
      <h2 id={heading} className={styles.title}>
        {title}
      </h2>
      <InDialog value={true}>{children}</InDialog>
    </dialog>
  );
}
