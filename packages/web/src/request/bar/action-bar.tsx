import { useTranslations } from "use-intl";
import { Region } from "@/design/outline";
import { useReview } from "../review";
import { AnswerBar } from "./answer-bar";
import { ApprovalBar } from "./approval-bar";
import styles from "./bar.module.css";
import { OverClaim } from "./over-claim";
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
      onMouseDown={keepUnmarked}
    >
      <Restarted />
      {situation === "open" ? <Controls /> : <StateNote />}
    </Region>
  );
}

/** The second click of two marks words; what the first one was meant for may be gone by then, and the page have moved. */
function keepUnmarked(event: React.MouseEvent): void {
  if (event.detail > 1 || !(event.target as Element).closest("button")) return;
  const look = (next: MouseEvent) => {
    if (next.detail > 1) next.preventDefault();
    else removeEventListener("mousedown", look, { capture: true });
  };
  addEventListener("mousedown", look, { capture: true });
}

function Controls() {
  const { request, mode, over } = useReview();
  if (over) return <OverClaim />;
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
