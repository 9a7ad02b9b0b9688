import type { InboxRequest, PassedOn, People } from "interlock-client/inbox";
import { useId } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Heading, Region } from "@/design/outline";
import { Revealed } from "@/text/revealed";
import { isBlind, whoOf } from "../model/people";
import { useMoment } from "../moment";
import { useReview } from "../review";
import { Claiming } from "./claiming";
import { Talk } from "./comments";
import { Override } from "./override";
import styles from "./team.module.css";

/** Whom the request is put to, how far they have come, and what they say to each other. */
export function Team() {
  const t = useTranslations("request.team");
  const { request } = useReview();
  const heading = useId();
  const { people } = request;
  if (!people) return null;
  return (
    <Region className={styles.team} aria-labelledby={heading} data-act="team">
      <Heading id={heading} className={styles.heading}>
        {t("title")}
      </Heading>
      <Needed request={request} people={people} />
      {people.votes && <Votes request={request} people={people} />}
      {people.level && people.level.number > 0 && (
        <p className={styles.text}>{t("level", { number: people.level.number, of: people.level.of })}</p>
      )}
      {request.passed_on && <PassedOnBy passed={request.passed_on} />}
      <Claiming />
      <Override />
      <Talk />
    </Region>
  );
}

function Needed({ request, people: { needs } }: { request: InboxRequest; people: People }) {
  const t = useTranslations("request.team");
  const { username } = usePerson();
  const { leftOut } = useReview();
  const who = whoOf(needs);
  const named = { people: needs.people, who: () => <Revealed key="who" text={who} /> };
  return (
    <p className={styles.text}>
      {who ? t.rich("needs", named) : t("needsAny", { people: needs.people })}{" "}
      {needs.separate && t(request.owner === username ? "separateYou" : "separate")}
      {leftOut === "remember" && ` ${t("notRemembered")}`}
    </p>
  );
}

/** With what was said to those to whom it was passed on. */
function PassedOnBy({ passed: { by, to, note, at } }: { passed: PassedOn }) {
  const t = useTranslations("request.team");
  const moment = useMoment();
  const named = {
    by: () => <Revealed key="by" text={by} />,
    to: () => <Revealed key="to" text={whoOf({ candidates: to })} />,
    time: moment(at),
  };
  return (
    <div className={note ? styles.comment : undefined} data-act="passed-on">
      <p className={styles.text}>{t.rich("passedOnBy", named)}</p>
      {note && <Revealed text={note} multiline />}
    </div>
  );
}

/** Before somebody has voted they are told how many did, and not who. */
function Votes({ request, people: { votes, voters } }: { request: InboxRequest; people: People }) {
  const t = useTranslations("request.team");
  const moment = useMoment();
  if (!votes) return null;
  return (
    <>
      <p className={styles.text} data-act="votes">
        <strong>{t("yes", { yes: votes.yes, needed: votes.needed })}</strong>
        {votes.refusals > 0 && ` ${t("no", { count: votes.refusals })}`}{" "}
        {isBlind(request) && <span className={styles.quiet}>{t(request.people?.may_answer ? "blind" : "hidden")}</span>}
      </p>
      {voters.length > 0 && (
        <ul className={styles.voters} aria-label={t("voters")}>
          {voters.map((one) => (
            <li key={one.by}>
              <span aria-hidden="true">{one.yes ? "✓" : "✗"}</span>{" "}
              {t.rich(one.yes ? "saidYes" : "saidNo", {
                by: () => <Revealed key="by" text={one.by} />,
                time: moment(one.at),
              })}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
