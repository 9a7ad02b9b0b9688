import { Forbidden, InvalidInput, NotFound } from "interlock-client/errors";
import type { InboxRequest } from "interlock-client/inbox";
import { useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useAgents } from "@/chat/threads";
import { Button } from "@/design/button";
import { PageTitle } from "@/shell/page-title";
import { useLooking } from "./api/use-looking";
import { useRequest } from "./api/use-request";
import { ActionBar } from "./bar/action-bar";
import { Content } from "./content";
import { Frame } from "./frame";
import styles from "./request-view.module.css";
import { ReviewContext } from "./review";
import { useAddresses } from "./use-addresses";
import { useGuard } from "./use-guard";
import { useReviewing, useReviewOn } from "./use-reviewing";
import { useEnd } from "./views/use-end";

/**
 * A request, open or settled, and its answer. It fills what it is put in, and only what it shows scrolls; `embedded` it
 * is a card among others, whose letters act only while it has the focus.
 */
export function RequestView({ id, embedded = false }: { id: string; embedded?: boolean }) {
  const source = useRequest(id);
  const { request } = source;
  if (!request || isWithheld(source)) return <Unread source={source} id={id} embedded={embedded} />;
  return <Reviewed key={id} latest={request} source={source} embedded={embedded} />;
}

type Source = ReturnType<typeof useRequest>;

/**
 * What was read before is not for whoever may not read it now. What was deleted under its reader stays, and so does, under
 * the sheet that asks for the password, what somebody has begun whose session has ended.
 */
function isWithheld({ query: { error }, isDeleted }: Source): boolean {
  return !isDeleted && (error instanceof NotFound || error instanceof Forbidden);
}

function Unread({ source: { query }, id, embedded }: { source: Source; id: string; embedded: boolean }) {
  const t = useTranslations("shell");
  const words = useTranslations("request.head");
  const { inbox } = useAddresses();
  const { error, refetch } = query;
  const isMissing = error instanceof NotFound || error instanceof Forbidden || error instanceof InvalidInput;
  const said = useUnread(query, isMissing);
  return (
    <div className={embedded ? styles.card : styles.page}>
      <div className={styles.unread} data-missing={isMissing} role={error ? "alert" : "status"}>
        {embedded ? <p>{said}</p> : <PageTitle name={id}>{said}</PageTitle>}
        {error && !isMissing && <Button onClick={() => refetch()}>{t("retry")}</Button>}
        {error && !embedded && <Link href={inbox}>{words("back")}</Link>}
      </div>
    </div>
  );
}

/** Why there is nothing to see. */
function useUnread({ error, isPaused }: Source["query"], isMissing: boolean): string {
  const t = useTranslations("shell");
  const words = useTranslations("request.head");
  if (!error) return t(isPaused ? "notLoaded" : "loading");
  return isMissing ? words("missing") : t("failed", { message: error.message });
}

function Reviewed({ latest, source, embedded }: { latest: InboxRequest; source: Source; embedded: boolean }) {
  const base = useReviewing(latest, source, embedded);
  const root = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLElement>(null);
  // What is edited ends elsewhere.
  const shown = base.mode === "edit" ? `${base.shown} edited` : base.shown;
  const end = useEnd(shown, () => (embedded ? (bar.current?.offsetHeight ?? 0) : 0));
  const review = useReviewOn(base, end, useGuard(standing(base), bar));
  useLooking(latest.request_id, review.situation === "open");
  useFresh(source, review.problem?.code);
  // Read before the receipt needs them.
  useAgents();
  return (
    <ReviewContext value={review}>
      <Frame rootRef={root}>
        <Content />
        <ActionBar ref={bar} />
      </Frame>
    </ReviewContext>
  );
}

/** Another text when other controls stand in the bar. */
function standing({ shown, mode, situation, isStale, over, request }: ReturnType<typeof useReviewing>): string {
  return `${shown} ${mode} ${situation} ${isStale} ${!!over} ${request.people?.may_answer} ${request.people?.own_vote}`;
}

/** Said of an answer that was given to something else than there is by now. */
const OUTDATED = ["file_changed", "not_shown", "claimed", "not_eligible"];

/** Read again when what is shown may no longer be so: after being told so, and when somebody comes back to the page. */
function useFresh({ query: { refetch } }: Source, problem: string | undefined): void {
  useEffect(() => {
    if (problem && OUTDATED.includes(problem)) void refetch();
  }, [problem, refetch]);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") void refetch();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [refetch]);
}
