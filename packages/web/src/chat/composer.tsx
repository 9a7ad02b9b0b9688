import { SendHorizontal, Square } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { isComposing } from "@/keys/use-keys";
import { LateGuard } from "@/request/model/guard";
import styles from "./composer.module.css";

const HIGHEST = 240;
export const LONGEST = 500_000;

interface Props {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  /** Why nothing can be sent now. */
  blocked: string | null;
  /** In place of sending, while there is something to stop. */
  onStop: (() => void) | null;
  isStopping?: boolean;
  /** How it stands, above the field. */
  children?: ReactNode;
}

/** Where a person writes. Enter sends, unless an input method is putting a word together. */
export function Composer({ field, text, onText, onSend, blocked, onStop, isStopping = false, children }: Props) {
  const t = useTranslations("chat");
  const hint = useId();
  useGrowing(field, text);
  const isEmpty = text.trim() === "";
  const send = () => {
    if (!isEmpty && blocked === null) onSend();
  };
  return (
    <form
      className={styles.composer}
      data-blocked={blocked !== null && isEmpty}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {children}
      <div className={styles.row}>
        <textarea
          ref={field}
          className={styles.field}
          rows={1}
          value={text}
          maxLength={LONGEST}
          aria-label={t("message")}
          aria-describedby={hint}
          placeholder={blocked ?? t("placeholder")}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => typed(event, send)}
        />
        {onStop ? <Stop onStop={onStop} isStopping={isStopping} /> : <Send isOff={isEmpty || blocked !== null} />}
      </div>
      <p id={hint} className={styles.hint}>
        {(!isEmpty && blocked) || t("sendHint")}
      </p>
    </form>
  );
}

function typed(event: KeyboardEvent, send: () => void): void {
  if (event.key !== "Enter" || event.shiftKey || event.altKey || isComposing(event.nativeEvent)) return;
  event.preventDefault();
  if (!event.repeat) send();
}

function Send({ isOff }: { isOff: boolean }) {
  const t = useTranslations("chat");
  return (
    <Button type="submit" look="primary" aria-disabled={isOff}>
      <SendHorizontal size={16} aria-hidden="true" /> {t("send")}
    </Button>
  );
}

/** It comes where Send stood: the second click of two was not meant for it. */
function Stop({ onStop, isStopping }: { onStop: () => void; isStopping: boolean }) {
  const t = useTranslations("chat");
  const guard = useRef<LateGuard>(null);
  guard.current ??= new LateGuard(performance.now());
  const stop = () => {
    if (!guard.current?.holds(performance.now())) onStop();
  };
  return (
    <Button onClick={stop} aria-disabled={isStopping} hint={stopKey()} aria-keyshortcuts="Control+. Meta+.">
      <Square size={14} aria-hidden="true" /> {t("stop")}
    </Button>
  );
}

/** As high as what is in it, up to a point. */
function useGrowing(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another height
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, HIGHEST)}px`;
  }, [text, field]);
}

function stopKey(): string {
  return /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘." : "Ctrl .";
}
