import { useQueryClient } from "@tanstack/react-query";
import type { Comment } from "interlock-client/inbox";
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef } from "react";
import { useTranslations } from "use-intl";
import { useLiveEvents } from "@/api/live-context";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Heading } from "@/design/outline";
import { isComposing } from "@/keys/use-keys";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import { isBlind } from "../model/people";
import { useMoment } from "../moment";
import { useReview } from "../review";
import { commentsKey, LONGEST_COMMENT, useComments, useSay } from "./api";
import styles from "./team.module.css";

/** What people say to each other of the request. No agent is sent it. */
export function Talk() {
  const t = useTranslations("request.team");
  const { request } = useReview();
  const id = request.request_id;
  const comments = useComments(id);
  useFresh(id);
  useHeard(comments.data);
  const isKept = isBlind(request) && request.people?.may_answer;
  return (
    <>
      <Heading isInner className={styles.heading}>
        {t("comments")}
      </Heading>
      {isKept && <p className={styles.quiet}>{t("blindComments")}</p>}
      {comments.isError && (
        <p className={styles.trouble} role="alert">
          {t("notRead", { message: comments.error.message })}
        </p>
      )}
      {comments.data && comments.data.length > 0 && (
        <ol className={styles.comments} aria-label={t("comments")}>
          {comments.data.map((one) => (
            <One key={one.comment_id} comment={one} />
          ))}
        </ol>
      )}
      <Say />
    </>
  );
}

function One({ comment: { by, at, text } }: { comment: Comment }) {
  const moment = useMoment();
  return (
    <li className={styles.comment}>
      <p className={styles.by}>
        <strong>
          <Revealed text={by} />
        </strong>{" "}
        <span className={styles.quiet}>{moment(at)}</span>
      </p>
      <Revealed text={text} multiline />
    </li>
  );
}

/** A vote too lets one read more than before. */
function useFresh(id: string): void {
  const client = useQueryClient();
  useLiveEvents((event) => {
    const isOfIt = (event.type === "commented" || event.type === "voted") && event.requestId === id;
    const isLost = event.type === "hello" || event.type === "reset";
    const isEnd = event.type === "settled" && event.settled.request_id === id;
    if (isOfIt || isLost || isEnd) void client.invalidateQueries({ queryKey: commentsKey(id) });
  });
}

/** Who does not see the page hears of what others say. */
function useHeard(comments: readonly Comment[] | undefined): void {
  const t = useTranslations("request.team");
  const announce = useAnnounce();
  const { username } = usePerson();
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!comments) return;
    const fresh = comments.filter((one) => !known.current?.has(one.comment_id) && one.by !== username);
    const last = fresh.at(-1);
    if (known.current && last) announce(t("commented", { name: last.by }));
    known.current = new Set(comments.map((one) => one.comment_id));
  }, [comments, username, announce, t]);
}

function Say() {
  const t = useTranslations("request.team");
  const { request, draft, setDraft } = useReview();
  const saying = useSay(request.request_id);
  const id = useId();
  const text = draft.comment ?? "";
  const send = () => {
    if (!text.trim() || saying.isPending) return;
    const said = () => setDraft((before) => (before.comment === text ? { ...before, comment: "" } : before));
    saying.mutate({ text }, { onSuccess: said });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || isComposing(event.nativeEvent)) return;
    // Elsewhere on the page it would send an answer.
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) send();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor={id} className="only-read-aloud">
        {t("say")}
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={LONGEST_COMMENT}
        placeholder={t("say")}
        aria-describedby={`${id}-note`}
        value={text}
        onKeyDown={press}
        onChange={(event) => setDraft({ comment: event.target.value })}
      />
      {saying.isError && (
        <p className={styles.trouble} role="alert">
          {t("notSaid", { message: saying.error.message })}
        </p>
      )}
      <div className={styles.acts}>
        <Button type="submit" aria-disabled={!text.trim() || saying.isPending}>
          {t("comment")}
        </Button>
        <span id={`${id}-note`} className={styles.quiet}>
          {t("sayNote")}
        </span>
      </div>
    </form>
  );
}
