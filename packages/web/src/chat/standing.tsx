import { ArrowDown, CircleAlert, CirclePause, LoaderCircle, Unplug } from "lucide-react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Name } from "@/request/names";
import styles from "./conversation.module.css";
import { type Conversation, toolsUnderWay } from "./state/model";
import type { Trouble } from "./use-acting";

interface Props {
  conversation: Conversation;
  trouble: Trouble | null;
  isConnected: boolean;
  onRequest: () => void;
  /** To text that has come out of sight; null: there is none. */
  onNew: (() => void) | null;
}

/** How the conversation stands, over the field: who is to do what now. */
export function Standing({ conversation, trouble, isConnected, onRequest, onNew }: Props) {
  const t = useTranslations("chat");
  const { notice, phase } = conversation;
  // Where nothing is under way the field itself says so.
  const isOffline = !isConnected && phase !== "idle";
  return (
    <div className={styles.standing}>
      {trouble && <Told trouble={trouble} />}
      {notice !== null && <p className={styles.note}>{notice}</p>}
      {isOffline && (
        <p className={styles.working}>
          <Unplug size={14} aria-hidden="true" /> {t("phase.offline")}
        </p>
      )}
      {!isOffline && <Present conversation={conversation} onRequest={onRequest} />}
      {/* Where a request waits, the button that leads to it leads to the same place. */}
      {onNew && phase !== "waiting" && (
        <Button className={styles.more} onClick={onNew}>
          {t("newText")} <ArrowDown size={14} aria-hidden="true" />
        </Button>
      )}
    </div>
  );
}

function Present({ conversation, onRequest }: Pick<Props, "conversation" | "onRequest">) {
  const t = useTranslations("chat");
  const { phase, open, isStopping } = conversation;
  if (phase === "idle") return null;
  if (isStopping) return <Stopping conversation={conversation} />;
  if (phase === "running") {
    return (
      <p className={styles.working}>
        <LoaderCircle size={14} aria-hidden="true" className={styles.turning} /> {t("phase.running")}
      </p>
    );
  }
  return (
    <p className={styles.waiting}>
      <CirclePause size={16} aria-hidden="true" /> {t("phase.waiting", { count: open.length })}
      <Button onClick={onRequest} hint="G R">
        {t("toRequest")}
      </Button>
    </p>
  );
}

function Stopping({ conversation }: { conversation: Conversation }) {
  const t = useTranslations("chat.phase");
  const tools = toolsUnderWay(conversation);
  const names = () =>
    tools.map((tool, index) => (
      <span key={tool.callId}>
        {index > 0 && ", "}
        <Name text={tool.name} />
      </span>
    ));
  return (
    <p className={styles.working} role="status">
      <LoaderCircle size={14} aria-hidden="true" className={styles.turning} />
      <span>{tools.length === 0 ? t("stopping") : t.rich("stoppingTool", { tools: names })}</span>
    </p>
  );
}

function Told({ trouble }: { trouble: Trouble }) {
  const t = useTranslations("chat.cannot");
  const text = trouble.about === "lost" ? t("lost") : t(trouble.about, { message: trouble.message });
  return (
    <p className={styles.trouble} role="alert">
      <CircleAlert size={16} aria-hidden="true" /> <span>{text}</span>
    </p>
  );
}
