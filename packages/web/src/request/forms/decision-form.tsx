import { useId } from "react";
import { useTranslations } from "use-intl";
import { Heading } from "@/design/outline";
import { AgentWords } from "@/text/agent-words";
import { decisionOf } from "../model/bodies";
import { pickAt, withPick } from "../model/drafts";
import { isFillable } from "../model/outcome";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { Code } from "../views/end-line";
import { AgentText } from "./agent-text";
import { Choices } from "./choices";
import styles from "./forms.module.css";

export function DecisionForm() {
  const t = useTranslations("request.forms");
  const { request, draft, setDraft, problem, situation, end } = useReview();
  const asked = useId();
  const { title, description, risks, choices } = decisionOf(request);
  return (
    <>
      <div id={asked}>
        <AgentWords text={[title, description].filter(Boolean).join("\n\n")} />
      </div>
      <Risks risks={risks} />
      {isFillable(situation) && (
        <>
          <Choices
            labelledBy={asked}
            choices={choices}
            takesOwn={false}
            pick={pickAt(draft, 0)}
            onPick={(pick) => setDraft((before) => withPick(before, 0, pick))}
            wrong={fieldMessage(problem, "decision")}
          />
          <p ref={end.marker} className={styles.code}>
            <Code />
          </p>
          <Why label={t("reason")} />
        </>
      )}
    </>
  );
}

function Risks({ risks }: { risks: readonly string[] }) {
  const t = useTranslations("request.forms");
  if (risks.length === 0) return null;
  return (
    <div className={styles.risks}>
      <Heading className={styles.small}>{t("risks")}</Heading>
      <ul>
        {risks.map((risk) => (
          <li key={risk}>
            <AgentText text={risk} />
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Why({ label }: { label: string }) {
  const { draft, setDraft, problem } = useReview();
  const wrong = fieldMessage(problem, "reason");
  return (
    <label className={styles.field}>
      {label}
      <textarea
        className={styles.area}
        rows={2}
        value={draft.why ?? ""}
        onChange={(event) => setDraft({ why: event.target.value })}
      />
      {wrong && <span className={styles.wrong}>{wrong}</span>}
    </label>
  );
}
