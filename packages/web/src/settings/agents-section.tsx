import type { Agent, Tool } from "interlock-client/inbox";
import { useTranslations } from "use-intl";
import { useAgents } from "@/chat/threads";
import { Risk } from "@/design/risk";
import { Name } from "@/request/names";
import { Revealed } from "@/text/revealed";
import { Read } from "./lists";
import styles from "./settings.module.css";

/** Who works here, and with what. */
export function AgentsSection() {
  const t = useTranslations("settings.agents");
  const agents = useAgents();
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      <Read query={agents} none={t("none")} isEmpty={(data) => data.agents.length === 0}>
        {(data) => data.agents.map((agent) => <OneAgent key={agent.name} agent={agent} />)}
      </Read>
    </>
  );
}

function OneAgent({ agent: { name, tools } }: { agent: Agent }) {
  const t = useTranslations("settings.agents");
  return (
    <section className={styles.agent}>
      <h2>
        <Name text={name} />
      </h2>
      <p className={styles.hint}>{tools.length === 0 ? t("noTools") : t("tools", { count: tools.length })}</p>
      <ul className={styles.list}>
        {tools.map((tool) => (
          <OneTool key={tool.name} tool={tool} />
        ))}
      </ul>
    </section>
  );
}

function OneTool({ tool }: { tool: Tool }) {
  const t = useTranslations("settings.agents");
  return (
    <li className={styles.tool}>
      <p className={styles.main}>
        <Name text={tool.name} /> <Risk level={tool.risk} />
      </p>
      <p className={styles.description}>
        <Revealed text={tool.description} multiline />
      </p>
      <details>
        <summary>{t("schema")}</summary>
        <div className={styles.schema}>
          <Revealed text={JSON.stringify(tool.args_schema, null, 2)} multiline />
        </div>
      </details>
    </li>
  );
}
