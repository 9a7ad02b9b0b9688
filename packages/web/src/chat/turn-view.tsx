import { Fragment, memo, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { AgentText } from "./agent-text";
import { AskedCard } from "./asked-card";
import styles from "./conversation.module.css";
import { FailureNote, type Remedy } from "./failure-note";
import { arranged } from "./state/arranged";
import type { Asked, Item, Said, Turn } from "./state/model";
import { ToolCard } from "./tool-card";

interface Props {
  turn: Turn;
  /** The requests that wait. */
  open: readonly string[];
  /** For a failure that is the last word of the conversation. */
  remedy: Remedy | null;
  /** Nobody says anything where the agent runs elsewhere. */
  isOutside: boolean;
}

/** A message of a person, and everything that came of it. */
export const TurnView = memo(function TurnView({ turn, open, remedy, isOutside }: Props) {
  const t = useTranslations("chat");
  const placed = useMemo(() => arranged(turn.items), [turn.items]);
  return (
    <li className={styles.turn}>
      {!isOutside && <UserWords text={turn.user} state={turn.sent} />}
      {placed.map(({ index, item, asked }) => (
        <Fragment key={index}>
          <AskedCards asked={asked} open={open} />
          {!asked.some((one) => open.includes(one.id)) && (
            <ItemView item={item} open={open} remedy={index === turn.items.length - 1 ? remedy : null} />
          )}
        </Fragment>
      ))}
      {turn.isStopped && <p className={styles.note}>{t("stopped")}</p>}
    </li>
  );
});

function ItemView({ item, open, remedy }: { item: Item } & Pick<Props, "open" | "remedy">) {
  switch (item.type) {
    case "text":
      return <AgentText text={item.text} />;
    case "tool":
      return <ToolCard tool={item} isPaused={open.length > 0} />;
    case "failure":
      return <FailureNote message={item.message} remedy={remedy} />;
    case "pause":
      return <AskedCards asked={item.asked} open={open} />;
  }
}

function AskedCards({ asked, open }: { asked: readonly Asked[]; open: readonly string[] }) {
  return asked.map((one) => <AskedCard key={one.id} asked={one} isOpen={open.includes(one.id)} />);
}

function UserWords({ text, state }: { text: string | null; state: Turn["sent"] }) {
  const t = useTranslations("chat");
  return (
    <div className={styles.user} data-sent={state}>
      <span className="only-read-aloud">{t("you")}: </span>
      {text === null ? <span className="quiet">{t("unknownMessage")}</span> : <Revealed text={text} multiline />}
      {state !== "sent" && <span className={styles.state}>{t(state)}</span>}
    </div>
  );
}

/** What was said before the log begins: by whom, and nothing of how. */
export function EarlierView({ said }: { said: Said }) {
  const t = useTranslations("chat");
  if (said.role === "user") return <UserWords text={said.content} state="sent" />;
  if (said.role === "assistant") return <AgentText text={said.content} />;
  if (said.role === "tool") {
    const nothing = { callId: "", input: null, startedAt: null, took: null };
    // Whether it ran, or a person spoke in its place, is not told of what is so old.
    const tool = {
      type: "tool",
      name: t("tool.calls"),
      output: said.content,
      state: "unfinished",
      ...nothing,
    } as const;
    return <ToolCard tool={tool} />;
  }
  return (
    <div className={styles.system}>
      <span className={styles.note}>{t("system")}</span>
      <Revealed text={said.content} multiline />
    </div>
  );
}
