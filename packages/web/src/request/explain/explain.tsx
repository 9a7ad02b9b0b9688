import { useQuery } from "@tanstack/react-query";
import type { PolicyExplanation } from "interlock-client/wire";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { get } from "@/api/transport";
import { Revealed } from "@/text/revealed";
import { addressOf } from "../api/use-request";
import { Name } from "../names";
import { useReview } from "../review";
import styles from "./explain.module.css";

/** Why somebody is asked, or nobody was: read when it is opened, and not before. */
export function Explain() {
  const t = useTranslations("request.explain");
  const { request } = useReview();
  const [isOpen, setOpen] = useState(false);
  if (request.kind !== "approval" || request.in_doubt) return null;
  const title = request.status === "pending" ? "whyAsked" : "whyThis";
  return (
    <details className={styles.explain} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t(title)}</summary>
      {isOpen && <Reason id={request.request_id} />}
    </details>
  );
}

function Reason({ id }: { id: string }) {
  const t = useTranslations("request.explain");
  const query = useQuery({
    queryKey: ["request", id, "explain"],
    queryFn: ({ signal }) => get<PolicyExplanation>(`${addressOf(id)}/explain`, {}, signal),
  });
  if (query.isPending) return <p role="status">{t("loading")}</p>;
  if (query.isError) return <p role="alert">{t("failed", { message: query.error.message })}</p>;
  return <Explained found={query.data} />;
}

export function Explained({ found }: { found: PolicyExplanation }) {
  const t = useTranslations("request.explain");
  const others = found.matches.filter((one) => one !== found.rule);
  return (
    <div className={styles.reason}>
      <p>
        <Because found={found} />
      </p>
      {found.reason && (
        <p>
          <Revealed text={found.reason} multiline />
        </p>
      )}
      {found.condition && (
        <p>
          {t("condition")} <Name text={found.condition} />
        </p>
      )}
      {found.facts.length > 0 && (
        <dl className={styles.facts}>
          {found.facts.map((one) => (
            <div key={one.name}>
              <dt>
                <Name text={one.name} />
              </dt>
              <dd>{one.value === null ? t("missing") : <Name text={one.value} />}</dd>
            </div>
          ))}
        </dl>
      )}
      {others.length > 0 && (
        <p>
          {t("others")} <Revealed text={others.join(", ")} />
        </p>
      )}
      {found.errors.length > 0 && <Failures found={found} />}
      {!found.recorded && found.version !== null && <p className={styles.quiet}>{t("byTime")}</p>}
      {!found.whole && found.version !== null && <p className={styles.quiet}>{t("forAdmins")}</p>}
    </div>
  );
}

function Because({ found }: { found: PolicyExplanation }) {
  const t = useTranslations("request.explain");
  const version = String(found.version ?? "");
  const rule = () => <Name key="rule" text={found.rule ?? ""} />;
  if (found.because === "rule") return t.rich(`rule.${found.then}`, { rule, version });
  if (found.because === "wants_person") return t.rich("wantsPerson", { rule, version });
  if (found.because === "not_evaluated") return t("notEvaluated", { count: found.errors.length, version });
  if (found.because === "no_rule") return t("noRule", { version });
  return t(found.because === "no_policy" ? "noPolicy" : "notJudged");
}

function Failures({ found: { errors } }: { found: PolicyExplanation }) {
  const t = useTranslations("request.explain");
  return (
    <>
      <p>{t("errors")}</p>
      <ul>
        {errors.map(({ rule, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: without names they have their place only
          <li key={index}>
            {rule && (
              <>
                <Name text={rule} />
                {": "}
              </>
            )}
            {reason}
          </li>
        ))}
      </ul>
    </>
  );
}
