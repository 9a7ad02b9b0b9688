import { Eye, EyeOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { useReview } from "../review";
import styles from "./forms.module.css";

const SHOWN = 10_000;

export interface FieldProps {
  id: string;
  /** Of the variable. */
  name: string;
  isWrong: boolean;
}

/**
 * The value lives in the review's memory and in the field itself. React is not told of it: it would write it into the
 * page as an attribute.
 */
export function SecretField({ id, name, isWrong, onFilled }: FieldProps & { onFilled: (isFilled: boolean) => void }) {
  const t = useTranslations("request.forms");
  const { secrets } = useReview();
  const field = useRef<HTMLInputElement>(null);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (field.current) field.current.value = secrets.current.get(name) ?? "";
  }, [secrets, name]);
  useEffect(() => {
    if (!isShown) return;
    const timer = setTimeout(() => setShown(false), SHOWN);
    return () => clearTimeout(timer);
  }, [isShown]);
  const change = (text: string) => {
    secrets.current.set(name, text);
    onFilled(text !== "");
  };
  const Icon = isShown ? EyeOff : Eye;
  return (
    <div className={styles.secret}>
      <input
        ref={field}
        id={id}
        type={isShown ? "text" : "password"}
        className={styles.input}
        autoComplete="new-password"
        autoCapitalize="off"
        spellCheck={false}
        data-1p-ignore
        data-lpignore="true"
        aria-invalid={isWrong}
        aria-describedby={isWrong ? `${id}wrong` : undefined}
        onChange={(event) => change(event.target.value)}
      />
      <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        <Icon aria-hidden="true" size={14} /> {isShown ? t("hide") : t("show")}
      </Button>
    </div>
  );
}
