import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Revealed } from "@/text/revealed";
import { barOf, isFull, whoOf } from "../model/people";
import { useReview } from "../review";
import styles from "./bar.module.css";

/** Why there is no yes here, or less beside it than elsewhere; and what one has said already. */
export function PeopleNote() {
  const t = useTranslations("request.team");
  const { username } = usePerson();
  const { request, leftOut, mode } = useReview();
  const { people } = request;
  if (!people || mode === "edit") return null;
  const bar = barOf(request, username);
  const who = () => <Revealed key="who" text={whoOf(people.needs)} />;
  return (
    <>
      {bar && (
        <p className={styles.note} data-act="no-yes">
          {t.rich(`bar.${bar}`, { who })}
        </p>
      )}
      {isFull(request) && people.may_answer && (
        <p className={styles.note} data-act="full">
          {t("full")}
        </p>
      )}
      {people.own_vote === "no" && <p className={styles.note}>{t("noIsIn")}</p>}
      {leftOut === "several" && <p className={styles.note}>{t("leftOut", { people: people.needs.people })}</p>}
    </>
  );
}
