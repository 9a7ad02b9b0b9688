import { textOf } from "interlock-client/json";
import { useId } from "react";
import { useTranslations } from "use-intl";
import { AgentWords } from "@/text/agent-words";
import { Revealed } from "@/text/revealed";
import { missingAnswers } from "../model/answers";
import { type Question, questionsOf } from "../model/bodies";
import { pickAt, withPick } from "../model/drafts";
import { isFillable } from "../model/outcome";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { Details } from "../views/details";
import { Choices } from "./choices";
import styles from "./forms.module.css";

/** Several questions, answered together. */
export function QuestionsForm() {
  const t = useTranslations("request.forms");
  const texts = useTranslations("text");
  const { request, draft, situation, isTried } = useReview();
  const questions = questionsOf(request);
  const missing = missingAnswers(questions, draft);
  return (
    <>
      <AgentWords text={textOf(request.body.title)} />
      <Details />
      {isFillable(situation) && questions.length > 1 && (
        <p className={styles.count} aria-live="polite">
          {t("answered", { done: questions.length - missing.length, count: questions.length })}
        </p>
      )}
      <p className={styles.written}>{texts("written")}</p>
      <ol className={styles.questions}>
        {questions.map((question, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: questions have no other name than their place
          <li key={place} data-question={place} data-missing={isTried && missing.includes(place) ? "" : undefined}>
            <Asked question={question} place={place} isMissing={isTried && missing.includes(place)} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Asked({ question, place, isMissing }: { question: Question; place: number; isMissing: boolean }) {
  const t = useTranslations("request.forms");
  const { draft, setDraft, problem, situation } = useReview();
  const asked = useId();
  return (
    <>
      <div id={asked} className={styles.asked}>
        <Revealed text={question.text} multiline />
      </div>
      {isFillable(situation) && (
        <Choices
          labelledBy={asked}
          choices={question.choices}
          takesOwn={question.takesOwn}
          pick={pickAt(draft, place)}
          onPick={(pick) => setDraft((before) => withPick(before, place, pick))}
          wrong={isMissing ? `← ${t("missing")}` : fieldMessage(problem, `answers[${place}]`)}
        />
      )}
    </>
  );
}
