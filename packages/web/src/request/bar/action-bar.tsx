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
      onMouseDown={selectsNothing}
    >
      <Restarted />
      {situation === "open" ? <Controls /> : <StateNote />}
    </Region>
  );
}

/** The second click of two marks words, and the button that it was meant for may be gone by then. */
function selectsNothing(event: React.MouseEvent): void {
  const isField = event.target instanceof Element && event.target.closest("input, textarea") !== null;
  if (event.detail > 1 && !isField) event.preventDefault();
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
