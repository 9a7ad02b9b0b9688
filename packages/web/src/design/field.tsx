import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import styles from "./field.module.css";

interface Props extends InputHTMLAttributes<HTMLInputElement> {
  label: ReactNode;
  /** What is taken, said before anything was typed. */
  rule?: string | null;
  /** What is wrong with it, said in the rule's place. */
  wrong?: ReactNode;
}

/** A line to type something that is taken letter by letter: a name, a password. */
export function Field({ label, rule, wrong, ...rest }: Props) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong || rule ? `${id}-note` : undefined}
        {...rest}
      />
      <div id={`${id}-note`} className={wrong ? styles.wrong : styles.rule}>
        {wrong ? <span role="alert">{wrong}</span> : rule}
      </div>
    </div>
  );
}
