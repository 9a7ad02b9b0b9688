import { type ReactNode, useEffect, useId, useRef } from "react";
import styles from "./dialog.module.css";

/** A modal over the page: the browser holds the focus in it and gives it back. Esc closes, and answers nothing. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading} className={styles.title}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}
