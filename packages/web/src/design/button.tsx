import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import styles from "./button.module.css";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "primary" | "soft" | "danger" | "quiet";
  /** The key that does the same, shown beside the words. */
  hint?: string | undefined;
  ref?: Ref<HTMLButtonElement>;
  children: ReactNode;
}

export function Button({ look = "plain", hint, className, children, type = "button", ...rest }: Props) {
  return (
    <button type={type} className={[styles.button, styles[look], className].filter(Boolean).join(" ")} {...rest}>
      {children}
      {hint && (
        <span className={styles.hint} aria-hidden="true">
          {hint}
        </span>
      )}
    </button>
  );
}
