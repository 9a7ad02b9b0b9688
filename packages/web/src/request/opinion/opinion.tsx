import type { Opinion as Given } from "interlock-client/inbox";
import { useId } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { post } from "@/api/transport";
import { useAct } from "@/api/use-act";
import { Button } from "@/design/button";
import { Heading, Region } from "@/design/outline";
import { Revealed } from "@/text/revealed";
import { addressOf } from "../api/use-request";
import { useReview } from "../review";
import styles from "./opinion.module.css";

/** What a model says of the call, for who asks for it: never unasked, and it changes nothing that is chosen here. */
export function Opinion() {
  const { second_opinion } = usePerson();
  const { request } = useReview();
  if (!second_opinion || request.in_doubt) return null;
  return <Asked key={request.request_id} id={request.request_id} />;
}

function Asked({ id }: { id: string }) {
  const t = useTranslations("request.opinion");
  const heading = useId();
  const asking = useAct({ retry: false, mutationFn: () => post<Given>(`${addressOf(id)}/opinion`, {}) });
  return (
    <Region className={styles.opinion} aria-labelledby={heading} data-act="opinion">
      <Heading id={heading} className={styles.heading}>
        {t("title")}
      </Heading>
      {!asking.data && <p className={styles.text}>{t("what")}</p>}
      <div role="status">
        {asking.isPending && <p className={styles.text}>{t("asking")}</p>}
        {asking.isError && <p className={styles.text}>{t("end.failed")}</p>}
        {asking.data && <Ended given={asking.data} />}
      </div>
      <Button disabled={asking.isPending} onClick={() => asking.mutate()}>
        {t(asking.isSuccess || asking.isError ? "again" : "ask")}
      </Button>
    </Region>
  );
}

function Ended({ given: { by, end, text } }: { given: Given }) {
  const t = useTranslations("request.opinion");
  if (end !== "given" || text === null)
    return <p className={styles.text}>{t(`end.${end === "given" ? "failed" : end}`)}</p>;
  return (
    <>
      <p className={styles.text}>{t("by", { name: by })}</p>
      <blockquote className={styles.words}>
        <Revealed text={text} multiline />
      </blockquote>
    </>
  );
}
