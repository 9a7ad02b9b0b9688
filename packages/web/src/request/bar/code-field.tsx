import { type FocusEvent, useEffect, useId, useRef } from "react";
import { useTranslations } from "use-intl";
import { offersRisk } from "../model/codes";
import { mayAnswer } from "../model/people";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { scrollerOf } from "../views/watch-end";
import styles from "./bar.module.css";

/** Four digits that only those know who came to the end of what will run. */
export function CodeField() {
  const t = useTranslations("request.bar");
  const { request, code, typed, setTyped, problem, end } = useReview();
  const id = useId();
  const onFocus = useShownCode(end.hasSeen);
  // Who may only answer it alone types them with the reason.
  if ((!code && !offersRisk(request)) || !mayAnswer(request)) return null;
  return (
    <div className={styles.code}>
      <label htmlFor={id}>{t("code")}</label>
      <input
        id={id}
        className={styles.digits}
        inputMode="numeric"
        autoComplete="off"
        maxLength={4}
        placeholder="····"
        title={t("codeHint")}
        data-act="code"
        disabled={!code}
        onFocus={onFocus}
        aria-invalid={!!fieldMessage(problem, "code")}
        value={typed}
        onChange={(event) => setTyped(event.target.value.replace(/\D/g, ""))}
      />
    </div>
  );
}

/**
 * While the digits are typed they stay in sight, also when a keyboard takes half of the screen. Who has not come to the end
 * yet is not led there by this.
 */
function useShownCode(hasSeen: boolean): (event: FocusEvent<HTMLElement>) => void {
  const stop = useRef(() => {});
  const mayShow = useRef(hasSeen);
  useEffect(() => {
    mayShow.current = hasSeen;
  }, [hasSeen]);
  useEffect(() => () => stop.current(), []);
  return ({ currentTarget: field }) => {
    const show = () =>
      requestAnimationFrame(() => mayShow.current && document.activeElement === field && showCode(field));
    stop.current();
    addEventListener("resize", show);
    globalThis.visualViewport?.addEventListener("resize", show);
    stop.current = () => {
      removeEventListener("resize", show);
      globalThis.visualViewport?.removeEventListener("resize", show);
    };
    field.addEventListener("blur", stop.current, { once: true });
    show();
  };
}

function showCode(field: HTMLElement): void {
  const code = field.closest("[data-review]")?.querySelector("[data-code]");
  const bar = field.closest("[data-bar]");
  if (!code || !bar) return;
  const { top, bottom } = code.getBoundingClientRect();
  const edge = scrollerOf(code)?.getBoundingClientRect().top ?? 0;
  if (top < edge || bottom > bar.getBoundingClientRect().top) code.scrollIntoView({ block: "start" });
}
