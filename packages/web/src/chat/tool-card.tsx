import {
  Ban,
  Check,
  CircleHelp,
  CirclePause,
  Clock,
  LoaderCircle,
  type LucideIcon,
  MessageSquareReply,
  Wrench,
  X,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import type { ToolItem, ToolState } from "./state/model";
import { isUnrun } from "./state/tools";
import styles from "./tool-card.module.css";
import { argumentsOf, isLong, KEPT, linesIn } from "./tool-text";

const SIGNS: Readonly<Record<ToolState, LucideIcon>> = {
  running: LoaderCircle,
  done: Check,
  failed: X,
  refused: Ban,
  replied: MessageSquareReply,
  cancelled: Ban,
  expired: Clock,
  waiting: CirclePause,
  queued: CirclePause,
  answered: CirclePause,
  unfinished: CircleHelp,
};

/** A call of a tool: how it stands, what it was called with and what it gave, to the last character. */
export function ToolCard({ tool, isPaused = false }: { tool: ToolItem; isPaused?: boolean }) {
  const t = useTranslations("chat.tool");
  // What waits is shown in full by the request below it.
  const isAsked = tool.state === "waiting";
  return (
    <section className={styles.card} data-state={tool.state}>
      <div className={styles.head}>
        <Wrench size={14} aria-hidden="true" />
        <code className={styles.name}>
          <Revealed text={tool.name} />
        </code>
        <Standing tool={tool} isPaused={isPaused} />
      </div>
      {!isAsked && tool.input !== null && <Input input={tool.input} isUnrun={isUnrun(tool)} />}
      {tool.output !== null && <Output output={tool.output} isUnrun={isUnrun(tool)} />}
      {(tool.output?.length ?? 0) >= KEPT && <p className={styles.note}>{t("cut", { count: KEPT })}</p>}
    </section>
  );
}

/** Whether a person has still to answer something is known of the conversation. */
function Standing({ tool: { state, took }, isPaused }: { tool: ToolItem; isPaused: boolean }) {
  const t = useTranslations("chat.tool");
  const Sign = SIGNS[state];
  return (
    <span className={styles.state}>
      <Sign size={14} aria-hidden="true" className={state === "running" ? styles.turning : undefined} />{" "}
      {t(state === "answered" && !isPaused ? "resuming" : state)}
      {took !== null && <> · {t("seconds", { seconds: (took / 1_000).toFixed(took < 1_000 ? 2 : 1) })}</>}
    </span>
  );
}

function Input({ input, isUnrun }: { input: unknown; isUnrun: boolean }) {
  const t = useTranslations("chat.tool");
  const found = argumentsOf(input);
  const texts = found.map((one) => one.text);
  if (found.length === 0) return <p className={styles.note}>{t("noInput")}</p>;
  return (
    <Folded label={t(isUnrun ? "unrunInput" : "input")} texts={texts}>
      <dl className={styles.arguments}>
        {found.map(({ name, text }) => (
          <div key={name} className={styles.argument}>
            {name && (
              <dt>
                <Revealed text={name} />
              </dt>
            )}
            <dd>
              <Revealed text={text} multiline />
            </dd>
          </div>
        ))}
      </dl>
    </Folded>
  );
}

function Output({ output, isUnrun }: { output: string; isUnrun: boolean }) {
  const t = useTranslations("chat.tool");
  return (
    <Folded label={t(isUnrun ? "unrunOutput" : "output")} texts={[output]}>
      <div className={styles.output}>{output ? <Revealed text={output} multiline /> : t("noOutput")}</div>
    </Folded>
  );
}

/** Long texts are folded, and drawn when they are unfolded. */
function Folded({ label, texts, children }: { label: string; texts: readonly string[]; children: ReactNode }) {
  const t = useTranslations("chat.tool");
  const [isOpen, setOpen] = useState(false);
  if (!isLong(texts)) {
    return (
      <div className={styles.part}>
        <span className={styles.label}>{label}</span>
        {children}
      </div>
    );
  }
  return (
    <details className={styles.part} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.label}>
        {label} · {t("lines", { count: linesIn(texts) })}
      </summary>
      {isOpen && children}
    </details>
  );
}
