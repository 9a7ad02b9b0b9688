import type { PolicyCheck, PolicyProblem } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { ordered } from "./marks";
import styles from "./policy.module.css";

export interface Checked {
  found: PolicyCheck | undefined;
  failure: string | null;
  isChecking: boolean;
  isUsable: boolean;
}

interface Props {
  id: string;
  checked: Checked;
  onLine: (line: number) => void;
}

/** What the server says of the text, in one line, and below it every problem with the way to its line. */
export function Problems({ id, checked, onLine }: Props) {
  const { found, isUsable } = checked;
  return (
    <div className={styles.problems}>
      <p id={id} role="status" data-ok={isUsable || undefined}>
        <Summary {...checked} />
      </p>
      {found && found.problems.length > 0 && (
        <ul>
          {ordered(found.problems).map((problem) => (
            <Problem key={`${problem.line} ${problem.rule} ${problem.message}`} problem={problem} onLine={onLine} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Summary({ found, failure, isChecking }: Checked) {
  const t = useTranslations("settings.policy");
  if (isChecking) return t("checking");
  if (failure) return t("checkFailed", { message: failure });
  return found ? <Outcome found={found} /> : t("empty");
}

function Outcome({ found: { problems, usable, rules, tests } }: { found: PolicyCheck }) {
  const t = useTranslations("settings.policy");
  const failed = problems.filter((one) => typeof one.test === "number").length;
  const errors = problems.filter((one) => !one.warning).length;
  if (usable) return t("usable", { rules, count: tests });
  return errors > failed ? t("errors", { count: errors }) : t("failing", { passed: tests - failed, count: tests });
}

function Problem({ problem, onLine }: { problem: PolicyProblem; onLine: Props["onLine"] }) {
  const t = useTranslations("settings.policy");
  const { line, rule, message, warning } = problem;
  return (
    <li data-warning={warning || undefined}>
      <strong>{t(warning ? "warning" : "error")}</strong>{" "}
      {line !== null && (
        <button type="button" className={styles.line} onClick={() => onLine(line)}>
          {t("line", { line })}
        </button>
      )}{" "}
      {rule && (
        <>
          <code>
            <Revealed text={rule} />
          </code>
          {": "}
        </>
      )}
      <Revealed text={message} />
    </li>
  );
}
