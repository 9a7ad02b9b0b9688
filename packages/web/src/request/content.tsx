import { lazyPart } from "@/shell/lazy-page";
import { AgentWords } from "@/text/agent-words";
import { Explain } from "./explain/explain";
import { ClarificationForm } from "./forms/clarification-form";
import { DecisionForm } from "./forms/decision-form";
import { DoubtForm } from "./forms/doubt-form";
import { FoldedRemember } from "./forms/folded-remember";
import { QuestionsForm } from "./forms/questions-form";
import { VariablesForm } from "./forms/variables-form";
import { Deadline } from "./head/deadline";
import { Head } from "./head/head";
import { Likeness } from "./likeness/likeness";
import { doubtOf, wordsOf } from "./model/bodies";
import { isUndecided } from "./model/outcome";
import { Opinion } from "./opinion/opinion";
import styles from "./request-view.module.css";
import { useReview } from "./review";
import { Team } from "./team/team";
import { Details } from "./views/details";
import { RunPanel } from "./views/run-panel";
import { SettledDetails } from "./views/settled-details";

const EditForm = lazyPart(async () => (await import("./edit/edit-form")).EditForm);

/** What is asked, always in this order: what will run, what the agent says of it, what to make of it. */
export function Content() {
  const { embedded, isLate } = useReview();
  const stop = (event: React.SyntheticEvent) => {
    const isChoice = event.target instanceof Element && event.target.closest("fieldset, label");
    if (!isChoice || !isLate(event.nativeEvent)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={embedded ? styles.body : styles.scroller} onClickCapture={stop}>
      <Head />
      <Asked />
      <SettledDetails />
      <Team />
      <Explain />
      <Deadline />
    </div>
  );
}

function Asked() {
  const { request } = useReview();
  const doubt = doubtOf(request);
  switch (request.kind) {
    case "approval":
      return <Approval />;
    case "clarification":
      return <ClarificationForm />;
    case "decision":
      return doubt ? <DoubtForm doubt={doubt} /> : <WithDetails form={<DecisionForm />} />;
    case "env_var":
      return <WithDetails form={<VariablesForm />} />;
    case "questions":
      return <QuestionsForm />;
  }
}

function WithDetails({ form }: { form: React.ReactNode }) {
  return (
    <>
      <Details />
      {form}
    </>
  );
}

function Approval() {
  const { request, embedded, mode, situation } = useReview();
  const isOpen = situation === "open";
  return (
    <>
      <RunPanel />
      <Likeness />
      {/* In a conversation it stands there, right before. */}
      <AgentWords text={embedded ? "" : (request.said ?? "")} from="said" />
      <AgentWords text={wordsOf(request)} from={request.described_by === "tool" ? "tool" : "written"} />
      <Details />
      <Opinion />
      {mode === "edit" && isUndecided(situation) && <EditForm />}
      {isOpen && mode === "look" && request.allowed.includes("accept") && <FoldedRemember />}
    </>
  );
}
