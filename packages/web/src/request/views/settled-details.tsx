import { isObject, type JsonObject, objectOf, textOf } from "interlock-client/json";
import { type ReactNode, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Heading } from "@/design/outline";
import { Revealed } from "@/text/revealed";
import { Changes } from "../edit/changes-view";
import { ChoiceLabel } from "../forms/choices";
import { WAYS } from "../forms/doubt-form";
import forms from "../forms/forms.module.css";
import { argsOf, decisionOf, doubtOf, isFree, questionsOf, variablesOf } from "../model/bodies";
import { isAtTerminal } from "../model/outcome";
import { Name } from "../names";
import { useReview } from "../review";
import { Lines } from "./lines";
import styles from "./settled-details.module.css";

/** What was answered. It is a person's, and shown like any text that came from somewhere. */
export function SettledDetails() {
  const { request } = useReview();
  const { response } = request;
  if (request.status === "pending") return null;
  if (!response) return <Why />;
  return (
    <>
      <Overridden />
      <Response response={response} />
    </>
  );
}

/** Why an admin answered alone what was put to others. */
function Overridden() {
  const t = useTranslations("request.team");
  const { request } = useReview();
  if (request.source !== "override" || !request.reason) return null;
  return (
    <Part title={t("overridden")} act="overridden">
      <Revealed text={request.reason} multiline />
    </Part>
  );
}

function Response({ response }: { response: JsonObject }) {
  const { request } = useReview();
  switch (request.kind) {
    case "approval":
      return <Approval response={response} />;
    case "env_var":
      return <Variables response={response} />;
    case "questions":
      return <Answers response={response} />;
    default:
      return <Answer response={response} />;
  }
}

/** Why somebody ended it without an answer, if they said so. */
function Why() {
  const t = useTranslations("request.states");
  const { request } = useReview();
  if (request.status !== "cancelled" || !request.reason || isAtTerminal(request)) return null;
  return (
    <Part title={t("reason")}>
      <Revealed text={request.reason} multiline />
    </Part>
  );
}

function Approval({ response }: { response: JsonObject }) {
  const t = useTranslations("request.states");
  const { request, embedded } = useReview();
  return (
    <>
      {isObject(response.args) && (
        <Part title={t("edited")}>
          <Changes before={argsOf(request)} after={response.args} />
        </Part>
      )}
      {textOf(response.message) && (
        <Part title={t("said")}>
          <Revealed text={textOf(response.message)} multiline />
        </Part>
      )}
      {/* Where it is part of another page, that one shows it. */}
      {request.result?.output && !embedded && (
        <Part title={t("result")} act="result">
          <Revealed text={request.result.output} multiline />
        </Part>
      )}
    </>
  );
}

function Answer({ response }: { response: JsonObject }) {
  const t = useTranslations("request.states");
  const { request } = useReview();
  if (isFree(request)) return <Got value={response.answer} />;
  return (
    <>
      <Part title={t("chosen")}>
        <Chosen value={textOf(response.answer) || textOf(response.decision)} />
      </Part>
      {textOf(response.reason) && (
        <Part title={t("reason")}>
          <Revealed text={textOf(response.reason)} multiline />
        </Part>
      )}
    </>
  );
}

/** What the graph got, as JSON: a text and a yes are not the same to it. */
function Got({ value }: { value: unknown }) {
  const t = useTranslations("request.states");
  const lines = useMemo(() => (JSON.stringify(value, null, 2) ?? "null").split("\n"), [value]);
  return (
    <Part title={t("got")}>
      <Lines lines={lines} />
    </Part>
  );
}

/** An option as it was offered. */
function Chosen({ value }: { value: string }) {
  const t = useTranslations("request.forms.doubt");
  const { request } = useReview();
  const way = WAYS.find((one) => one === value);
  if (way && doubtOf(request)) return t(way);
  const choice = decisionOf(request).choices.find((one) => one.value === value);
  return request.kind === "decision" && choice ? (
    <span className={forms.agent}>
      <ChoiceLabel choice={choice} />
    </span>
  ) : (
    <Revealed text={value} multiline />
  );
}

function Answers({ response }: { response: JsonObject }) {
  const t = useTranslations("request.states");
  const { request } = useReview();
  const answers: unknown[] = Array.isArray(response.answers) ? response.answers : [];
  return (
    <Part title={t("chosen")}>
      <ol className={styles.answers}>
        {questionsOf(request).map((_, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: answers have no other name than their place
          <li key={place}>
            <Revealed text={textOf(answers[place])} multiline />
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Variables({ response }: { response: JsonObject }) {
  const t = useTranslations("request.states");
  const { request } = useReview();
  const given = { ...objectOf(response.handles), ...objectOf(response.values) };
  const shown = (name: string, isSensitive: boolean) => (isSensitive ? "••••" : textOf(given[name]));
  return (
    <Part title={t("values")}>
      <dl className={styles.values}>
        {variablesOf(request)
          .filter(({ name }) => name in given)
          .map(({ name, isSensitive }) => (
            <div key={name}>
              <dt>
                <Name text={name} />
              </dt>
              <dd>
                <Revealed text={shown(name, isSensitive)} />
              </dd>
            </div>
          ))}
      </dl>
    </Part>
  );
}

function Part({ title, act, children }: { title: string; act?: string; children: ReactNode }) {
  return (
    <section className={styles.part} data-act={act}>
      <Heading className={styles.title}>{title}</Heading>
      {children}
    </section>
  );
}
