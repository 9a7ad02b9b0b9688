import { Eye, EyeOff } from "lucide-react";
import {
  type ChangeEvent,
  type ClipboardEvent,
  type DragEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
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

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * The value lives in the review's memory and in the field itself. React is not told of it: it would write it into the
 * page as an attribute. What has several lines, such as a key in PEM, gets a field that takes lines: any other one would
 * turn their breaks into spaces.
 */
export function SecretField({ id, name, isWrong, onFilled }: FieldProps & { onFilled: (isFilled: boolean) => void }) {
  const t = useTranslations("request.forms");
  const { secrets } = useReview();
  const field = useRef<Field>(null);
  const [hasLines, setHasLines] = useState(() => isLong(secrets.current.get(name)));
  const [isShown, setShown] = useShown();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another field is to be filled
  useEffect(() => {
    if (field.current) field.current.value = secrets.current.get(name) ?? "";
  }, [secrets, name, hasLines]);
  const change = (text: string) => {
    secrets.current.set(name, text);
    onFilled(text !== "");
  };
  const takeLines = () => {
    setHasLines(true);
    requestAnimationFrame(() => field.current?.focus());
  };
  const put = (event: ClipboardEvent | DragEvent, text: string) => {
    if (hasLines || !isLong(text) || !field.current) return;
    event.preventDefault();
    change(inserted(field.current, text));
    takeLines();
  };
  const given = {
    id,
    autoCapitalize: "off",
    autoCorrect: "off",
    spellCheck: false,
    "data-1p-ignore": true,
    "data-lpignore": "true",
    "aria-invalid": isWrong,
    "aria-describedby": isWrong ? `${id}wrong` : undefined,
    onChange: (event: ChangeEvent<Field>) => change(event.target.value),
    onPaste: (event: ClipboardEvent) => put(event, event.clipboardData.getData("text")),
    onDrop: (event: DragEvent) => put(event, event.dataTransfer.getData("text")),
  };
  const Icon = isShown ? EyeOff : Eye;
  return (
    <div className={styles.secret}>
      {hasLines ? (
        <textarea
          {...given}
          ref={field as RefObject<HTMLTextAreaElement>}
          rows={6}
          className={`${styles.input} ${styles.lines} ${isShown ? "" : styles.hidden}`}
          autoComplete="off"
        />
      ) : (
        <input
          {...given}
          ref={field as RefObject<HTMLInputElement>}
          type={isShown ? "text" : "password"}
          className={styles.input}
          autoComplete="new-password"
        />
      )}
      <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        <Icon aria-hidden="true" size={14} /> {isShown ? t("hide") : t("show")}
      </Button>
      {!hasLines && (
        <Button look="quiet" onClick={takeLines}>
          {t("severalLines")}
        </Button>
      )}
    </div>
  );
}

/** For a moment only. */
function useShown(): [boolean, (isShown: boolean) => void] {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isShown) return;
    const timer = setTimeout(() => setShown(false), SHOWN);
    return () => clearTimeout(timer);
  }, [isShown]);
  return [isShown, setShown];
}

function isLong(text: string | undefined): boolean {
  return /[\r\n]/.test(text ?? "");
}

/** All of the text of a field, with this where its caret is. */
function inserted({ value, selectionStart, selectionEnd }: Field, text: string): string {
  const [from, to] = [selectionStart ?? value.length, selectionEnd ?? value.length];
  return value.slice(0, from) + text.replace(/\r\n?/g, "\n") + value.slice(to);
}
