import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { isComposing, useKeys } from "@/keys/use-keys";
import { Composer } from "./composer";
import styles from "./conversation.module.css";
import { keepDraft, readDraft } from "./drafts";
import type { Remedy } from "./failure-note";
import { begunWith } from "./sending";
import { Standing } from "./standing";
import type { Action } from "./state/conversation";
import type { Conversation } from "./state/model";
import { EarlierView, TurnView } from "./turn-view";
import { type Acting, useActing } from "./use-acting";
import { useBottom } from "./use-bottom";

interface Props {
  thread: string;
  conversation: Conversation;
  act: (action: Action) => void;
  reload: () => void;
  isConnected: boolean;
}

/** A conversation that is loaded: what was said and done, and the field to go on with. */
export function ConversationView({ thread, conversation, act, reload, isConnected }: Props) {
  const acting = useActing(thread, conversation, act, reload);
  const { scroller, content, hasNew, toBottom } = useBottom();
  const t = useTranslations("chat");
  const writing = useWriting(thread, acting, toBottom);
  const toRequest = useCallback(() => focusRequest(scroller.current), [scroller]);
  useStopKey(acting.stop);
  useKeys({ "g r": toRequest }, conversation.open.length > 0);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label={t("untitled")} tabIndex={0}>
        <div ref={content} className={styles.content}>
          <Turns conversation={conversation} acting={acting} onBack={writing.back} />
        </div>
      </section>
      <div className={styles.below}>
        <Foot
          {...{ conversation, acting, writing, isConnected }}
          onRequest={toRequest}
          onNew={hasNew ? toBottom : null}
        />
      </div>
    </>
  );
}

function Turns({
  conversation,
  acting,
  onBack,
}: {
  conversation: Conversation;
  acting: Acting;
  onBack: (text: string) => void;
}) {
  const { earlier, turns, open, phase, isOutside } = conversation;
  const last = turns.at(-1);
  const hasAnswers = last?.items.some((item) => item.type === "pause") ?? false;
  const remedy: Remedy | null =
    phase === "idle" && last?.items.at(-1)?.type === "failure"
      ? { again: hasAnswers ? acting.again : null, back: () => onBack(last.user ?? ""), isBusy: acting.isContinuing }
      : null;
  return (
    <ol className={styles.turns}>
      {earlier.map((said, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other name than their place
        <li key={index}>
          <EarlierView said={said} />
        </li>
      ))}
      {turns.map((turn) => (
        <TurnView
          key={turn.key}
          turn={turn}
          open={turn === last ? open : NONE}
          remedy={turn === last ? remedy : null}
          isOutside={isOutside}
        />
      ))}
    </ol>
  );
}

const NONE: readonly string[] = [];

interface FootProps {
  conversation: Conversation;
  acting: Acting;
  writing: Writing;
  isConnected: boolean;
  onRequest: () => void;
  onNew: (() => void) | null;
}

function Foot({ conversation, acting, writing, isConnected, onRequest, onNew }: FootProps) {
  const t = useTranslations("chat");
  const { phase, isOutside, isStopping } = conversation;
  const { field, text, setText, send } = writing;
  const blocked = useBlocked(phase, isConnected);
  const standing = <Standing {...{ conversation, isConnected, onRequest, onNew }} trouble={acting.trouble} />;
  if (isOutside) {
    return (
      <div className={styles.outside}>
        {standing}
        <p className="quiet">{t("phase.outside")}</p>
      </div>
    );
  }
  const onStop = phase === "idle" ? null : acting.stop;
  return (
    <Composer {...{ field, text, blocked, isStopping, onStop }} onText={setText} onSend={send}>
      {standing}
    </Composer>
  );
}

interface Writing {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  setText: (text: string) => void;
  send: () => void;
  /** Put a message back to be sent again. */
  back: (message: string) => void;
}

function useWriting(thread: string, acting: Acting, toBottom: () => void): Writing {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(thread);
  useFocusAfterBegin(thread, field);
  const back = (message: string) => {
    setText(message);
    field.current?.focus();
  };
  const send = async () => {
    const message = text.trim();
    setText("");
    toBottom();
    if (!(await acting.send(message))) back(message);
  };
  return { field, text, setText, send: () => void send(), back };
}

function useBlocked(phase: Conversation["phase"], isConnected: boolean): string | null {
  const t = useTranslations("chat");
  if (phase === "waiting") return t("answerFirst");
  if (phase === "running") return t("waitFirst");
  return isConnected ? null : t("phase.offline");
}

export function useDraft(thread: string | null): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(thread));
  const change = useCallback(
    (next: string) => {
      setText(next);
      keepDraft(thread, next);
    },
    [thread],
  );
  return [text, change];
}

/** With a modifier, so it works while writing too. */
function useStopKey(stop: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "." || !(event.ctrlKey || event.metaKey) || event.repeat || isComposing(event)) return;
      event.preventDefault();
      stop();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [stop]);
}

/** Who began the conversation here goes on writing; who opens it reads its title. */
function useFocusAfterBegin(thread: string, field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    if (begunWith(thread) !== null) field.current?.focus();
  }, [thread, field]);
}

function focusRequest(scroller: HTMLElement | null): void {
  const request = scroller?.querySelector<HTMLElement>("[data-asked=open]");
  request?.scrollIntoView({ block: "start" });
  request?.querySelector<HTMLElement>(":scope > [tabindex]")?.focus({ preventScroll: true });
}
