import { useId } from "react";
import { AgentWords } from "@/text/agent-words";
import { isFree, questionsOf } from "../model/bodies";
import { pickAt, withPick } from "../model/drafts";
import { isFillable } from "../model/outcome";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { Details } from "../views/details";
import { Choices } from "./choices";
import styles from "./forms.module.css";
import { FreeForm } from "./free-form";

export function ClarificationForm() {
  const { request, draft, setDraft, problem, situation } = useReview();
  const asked = useId();
  const [question] = questionsOf(request);
  if (!question) return null;
  return (
    <>
      <div id={asked} className={styles.parts}>
        <AgentWords text={question.text} />
        <Details />
      </div>
      {isFillable(situation) && isFree(request) && <FreeForm labelledBy={asked} question={question} />}
      {isFillable(situation) && !isFree(request) && (
        <Choices
          labelledBy={asked}
          choices={question.choices}
          takesOwn={question.takesOwn}
          pick={pickAt(draft, 0)}
          onPick={(pick) => setDraft((before) => withPick(before, 0, pick))}
          wrong={fieldMessage(problem, "answer")}
        />
      )}
    </>
  );
}
