import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { Button } from "@/design/button";
import { Name } from "@/request/names";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { Composer } from "./composer";
import { useDraft } from "./conversation-view";
import styles from "./new-conversation.module.css";
import { beginThread, beginWith, say } from "./sending";
import { addressOf, THREADS, useAgents } from "./threads";

/** The agent that comes with the server, which knows a few phrases. */
const DEMO = "demo";
const EXAMPLES = ["create", "run", "several", "remove", "questions", "decide", "key"] as const;

/** Nothing is begun before something is said. */
export function NewConversation() {
  const t = useTranslations("chat");
  const agents = useAgents();
  return (
    <section className={styles.pane}>
      <PageTitle name="chat">{t("newThread")}</PageTitle>
      {agents.isPending && <Loading />}
      {agents.isError && <Failed error={agents.error} onRetry={() => void agents.refetch()} />}
      {agents.data?.agents.length === 0 && <p className="quiet">{t("noAgents")}</p>}
      {agents.data && agents.data.agents.length > 0 && <Begin agents={agents.data.agents.map((one) => one.name)} />}
    </section>
  );
}

function Begin({ agents }: { agents: string[] }) {
  const t = useTranslations("chat");
  const [agent, setAgent] = useState(agents[0] ?? "");
  const [text, setText] = useDraft(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const beginning = useBeginning(agent);
  const blocked = beginning.isBusy ? t("sending") : null;
  const send = () => void beginning.begin(text.trim()).then((isDone) => isDone && setText(""));
  return (
    <>
      <Choice agents={agents} agent={agent} onChoice={setAgent} />
      <p className={styles.what}>{t("begin")}</p>
      {agent === DEMO && <Examples field={field} onPick={setText} />}
      <Composer {...{ field, text, blocked }} onText={setText} onSend={send} onStop={null}>
        {beginning.trouble !== null && (
          <p className={styles.trouble} role="alert">
            {t("cannot.begin", { message: beginning.trouble })}
          </p>
        )}
      </Composer>
    </>
  );
}

function Choice({ agents, agent, onChoice }: { agents: string[]; agent: string; onChoice: (agent: string) => void }) {
  const t = useTranslations("chat");
  if (agents.length === 1) {
    const name = () => <Name text={agent} />;
    return <p className={styles.what}>{t.rich("onlyAgent", { agent: name })}</p>;
  }
  return (
    <label className={styles.choice}>
      {t("agent")}
      <select value={agent} onChange={(event) => onChoice(event.target.value)}>
        {agents.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Examples({ field, onPick }: { field: RefObject<HTMLTextAreaElement | null>; onPick: (text: string) => void }) {
  const t = useTranslations("chat");
  return (
    <div className={styles.examples}>
      <p className="quiet">{t("examples")}</p>
      <ul>
        {EXAMPLES.map((name) => (
          <li key={name}>
            <Button
              onClick={() => {
                onPick(t(`example.${name}`));
                field.current?.focus();
              }}
            >
              {t(`example.${name}`)}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function useBeginning(agent: string) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  // A thread whose first message was not taken: the next one goes there.
  const made = useRef<{ agent: string; thread: string } | null>(null);
  const begin = async (text: string): Promise<boolean> => {
    setBusy(true);
    setTrouble(null);
    try {
      if (made.current?.agent !== agent) made.current = { agent, thread: await beginThread(agent) };
      const { thread } = made.current;
      await say(thread, text);
      beginWith(thread, text);
      void client.invalidateQueries({ queryKey: THREADS });
      navigate(addressOf(thread));
      return true;
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      setBusy(false);
      return false;
    }
  };
  return { begin, isBusy, trouble };
}
