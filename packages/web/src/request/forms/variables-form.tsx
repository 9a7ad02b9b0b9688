import { useId, useState } from "react";
import { useTranslations } from "use-intl";
import { type Variable, variablesOf } from "../model/bodies";
import { isFillable } from "../model/outcome";
import { Name } from "../names";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { AgentText, Wrong } from "./agent-text";
import styles from "./forms.module.css";
import { type FieldProps, SecretField } from "./secret-field";

const MOST_ROWS = 8;

/** Values that the agent needs. */
export function VariablesForm() {
  const t = useTranslations("request.forms");
  const { request, situation, save, setSave } = useReview();
  const isOpen = isFillable(situation);
  return (
    <div className={styles.variables}>
      {variablesOf(request).map((variable) => (
        <Field key={variable.name} variable={variable} />
      ))}
      {isOpen && request.body.allow_save === true && (
        <label className={styles.save}>
          <input type="checkbox" checked={save} onChange={(event) => setSave(event.target.checked)} />
          <span>{t("save")}</span>
        </label>
      )}
      {isOpen && <Notes variables={variablesOf(request)} />}
    </div>
  );
}

/** What becomes of the values: what is promised of secrets does not hold for the others. */
function Notes({ variables }: { variables: readonly Variable[] }) {
  const t = useTranslations("request.forms");
  const plain = variables.filter((one) => !one.isSensitive);
  const names = () => plain.map(({ name }, place) => [place > 0 && ", ", <Name key={name} text={name} />]);
  return (
    <>
      {plain.length < variables.length && <p className={styles.note}>{t("secretNote")}</p>}
      {plain.length > 0 && <p className={styles.note}>{t.rich("plainNote", { count: plain.length, names })}</p>}
    </>
  );
}

function Field({ variable }: { variable: Variable }) {
  const t = useTranslations("request.forms");
  const { problem, situation, isTried, draft, secrets } = useReview();
  const { name, isRequired, isSensitive } = variable;
  const id = useId();
  const [hasSecret, setHasSecret] = useState(() => !!secrets.current.get(name));
  const isEmpty = isSensitive ? !hasSecret : !draft.values?.[name];
  const wrong = isTried && isRequired && isEmpty ? t("missingValue") : fieldMessage(problem, `values.${name}`);
  const field = { id, name, isWrong: !!wrong };
  return (
    <div className={styles.variable}>
      <label htmlFor={id}>
        <Name text={name} /> <span className={styles.muted}>{isRequired ? t("required") : t("optional")}</span>
      </label>
      {variable.label && variable.label !== name && <AgentText text={variable.label} />}
      {variable.description && <AgentText text={variable.description} />}
      {isFillable(situation) &&
        (isSensitive ? <SecretField {...field} onFilled={setHasSecret} /> : <Plain {...field} />)}
      <Wrong id={`${id}wrong`}>{wrong}</Wrong>
    </div>
  );
}

function Plain({ id, name, isWrong }: FieldProps) {
  const { draft, setDraft } = useReview();
  const change = (text: string) => setDraft((before) => ({ ...before, values: { ...before.values, [name]: text } }));
  return (
    <textarea
      id={id}
      // Lines stay lines, also those of what is no secret.
      rows={Math.min((draft.values?.[name] ?? "").split("\n").length, MOST_ROWS)}
      className={`${styles.input} ${styles.plain}`}
      autoComplete="off"
      spellCheck={false}
      aria-invalid={isWrong}
      aria-describedby={isWrong ? `${id}wrong` : undefined}
      value={draft.values?.[name] ?? ""}
      onChange={(event) => change(event.target.value)}
    />
  );
}
