import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Gets } from "../forms/free-form";
import { isFree, questionsOf } from "../model/bodies";
import { chosen, NOTHING } from "../model/free";
import { mayAnswer, mayRefuse } from "../model/people";
import { useReview } from "../review";
import { useActions } from "../use-actions";
import { useHints } from "../use-hints";
import styles from "./bar.module.css";
import { CodeField } from "./code-field";
import { obstacleId } from "./obstacle-note";
import { PeopleNote } from "./people-note";
import { Problem } from "./problem";
import { YesButton } from "./yes-button";

/** For what is no approval. */
export function AnswerBar() {
  const t = useTranslations("request.bar");
  const { code, request, draft } = useReview();
  const isGiven = isFree(request) && chosen(draft.free ?? NOTHING).state !== "missing";
  const { open } = useActions();
  if (!mayAnswer(request)) return <OnlyDismiss />;
  return (
    <>
      <Problem />
      {isGiven ? <Gets /> : <Missing />}
      <div className={`${styles.row} ${styles.even}`}>
        <CodeField />
        {code ? <RiskySend /> : <Send />}
        <Button data-act="dismiss" onClick={() => open("dismiss")}>
          {t("dismiss")}
        </Button>
      </div>
    </>
  );
}

/** Whoever asked, and admins, may end what they may not answer. */
function OnlyDismiss() {
  const t = useTranslations("request.bar");
  const { request } = useReview();
  const { open } = useActions();
  return (
    <>
      <Problem />
      <PeopleNote />
      {mayRefuse(request) && (
        <div className={styles.row}>
          <Button data-act="dismiss" onClick={() => open("dismiss")}>
            {t("dismiss")}
          </Button>
        </div>
      )}
    </>
  );
}

function Missing() {
  const t = useTranslations("request");
  const { isTried, code, typed, request } = useReview();
  const { missing } = useActions();
  if (!isTried) return null;
  const words = [
    missing.length > 0 && request.kind !== "env_var" && request.kind !== "questions" ? t("forms.pick") : "",
    code && typed !== code ? t(typed.length >= 4 ? "bar.obstacle.wrongCode" : "bar.obstacle.code") : "",
  ].filter(Boolean);
  return words.length > 0 ? (
    <p id={obstacleId(request)} className={styles.problem} role="alert">
      {words.join(" ")}
    </p>
  ) : null;
}

function Send() {
  const { answer } = useActions();
  const hint = useHints();
  return (
    <Button look="primary" data-act="send" hint={hint("⌘⏎")} onClick={answer}>
      <SendWords />
    </Button>
  );
}

/** A dangerous option is a yes like any other: no Enter sends it, with or without another key. */
function RiskySend() {
  const { request } = useReview();
  const { answer, missing } = useActions();
  return (
    <YesButton isRisky isOff={missing.length > 0} describedBy={obstacleId(request)} onYes={answer}>
      <SendWords />
    </YesButton>
  );
}

function SendWords() {
  const t = useTranslations("request.bar");
  const { request } = useReview();
  if (request.kind === "env_var") return t("handOver");
  return request.kind === "questions" ? t("sendMany", { count: questionsOf(request).length }) : t("send");
}
