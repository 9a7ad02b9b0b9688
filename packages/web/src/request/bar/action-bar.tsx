import { useRef } from "react";
import { useTranslations } from "use-intl";
import { Region } from "@/design/outline";
import { useReview } from "../review";
import { AnswerBar } from "./answer-bar";
import { ApprovalBar } from "./approval-bar";
import styles from "./bar.module.css";
import { DismissForm, RefuseForm, ReplyForm } from "./reason-forms";
import { Restarted } from "./restarted";
import { StateNote } from "./state-note";

/** Where it is answered; what happened to the request takes its place. It never scrolls away with what is shown. */
export function ActionBar({ ref }: { ref: React.Ref<HTMLElement> }) {
  const t = useTranslations("request.bar");
  const { situation, embedded, isLate } = useReview();
  const unmark = useUnmarked();
  const stop = (event: React.SyntheticEvent) => {
    if (!isLate(event.nativeEvent)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Region
      ref={ref}
      className={`${styles.bar} ${embedded ? styles.embedded : ""}`}
      aria-label={t("label")}
      data-bar
      onClickCapture={stop}
      onMouseDown={unmark}
    >
      <Restarted />
      {situation === "open" ? <Controls /> : <StateNote />}
    </Region>
  );
}

/** The second click of two marks words; a button that both were meant for may be gone by then. */
function useUnmarked(): (event: React.MouseEvent) => void {
  const isMeantForButton = useRef(false);
  return (event) => {
    if (event.detail === 1) isMeantForButton.current = (event.target as Element).closest("button") !== null;
    else if (isMeantForButton.current) event.preventDefault();
  };
}

function Controls() {
  const { request, mode } = useReview();
  switch (mode) {
    case "refuse":
      return <RefuseForm />;
    case "reply":
      return <ReplyForm />;
    case "dismiss":
      return <DismissForm />;
    default:
      return request.kind === "approval" ? <ApprovalBar /> : <AnswerBar />;
  }
}
