import { useId } from "react";
import styles from "./login.module.css";

interface Props {
  name: string;
  label: string;
  type?: "text" | "password";
  autoComplete: string;
  /** What is taken, said before anything was typed. */
  rule: string | null;
}

export function Field({ name, label, type = "text", autoComplete, rule }: Props) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        required
        autoComplete={autoComplete}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        aria-describedby={rule ? `${id}-rule` : undefined}
      />
      {rule && (
        <span id={`${id}-rule`} className={styles.rule}>
          {rule}
        </span>
      )}
    </div>
  );
}
