import type { InboxEntry, Kind } from "interlock-client/inbox";
import { CircleHelp, Folder, KeyRound, ListChecks, type LucideIcon, Split } from "lucide-react";
import { memo } from "react";
import { Risk } from "@/design/risk";
import { Revealed } from "@/text/revealed";
import styles from "./row.module.css";
import type { RowTexts } from "./row-texts";

const ICONS: Readonly<Partial<Record<Kind, LucideIcon>>> = {
  clarification: CircleHelp,
  decision: Split,
  env_var: KeyRound,
  questions: ListChecks,
};

export interface RowProps extends RowTexts {
  entry: InboxEntry;
  href: string;
  isOpen: boolean;
  isTabStop: boolean;
  isSelected: boolean;
  /** The name of the box that selects it. */
  select: string;
  onReached: (id: string) => void;
  onSelect: (id: string) => void;
}

/** There may be a thousand: the list that holds it hears the clicks on its link. */
export const RequestRow = memo(function RequestRow(props: RowProps) {
  const { entry, href, isOpen, isTabStop, isSelected, ending } = props;
  const id = entry.request_id;
  const reached = () => props.onReached(id);
  const tabIndex = isTabStop ? 0 : -1;
  return (
    <li className={`${styles.row} ${isOpen ? styles.open : ""} ${ending ? styles.ended : ""}`} data-request={id}>
      {entry.batchable && !ending && (
        <input
          type="checkbox"
          className={styles.select}
          checked={isSelected}
          tabIndex={tabIndex}
          aria-label={props.select}
          aria-describedby={`headline-${id}`}
          onChange={() => props.onSelect(id)}
          onFocus={reached}
        />
      )}
      <a
        href={href}
        className={styles.link}
        tabIndex={tabIndex}
        aria-current={isOpen ? "true" : undefined}
        onFocus={reached}
      >
        <Top {...props} />
        <Headline entry={entry} />
        <Meta {...props} />
      </a>
    </li>
  );
});

function Top({ entry, kind, left, leftAloud, looking, claim, votes, votesAloud, ending }: RowProps) {
  const Icon = ICONS[entry.kind];
  return (
    <span className={styles.top}>
      {(entry.kind === "approval" || entry.risk) && <Risk level={entry.risk} />}
      {Icon && (
        <span className={styles.kind}>
          <Icon size={14} aria-hidden="true" /> {kind}
        </span>
      )}
      {votes && (
        <span className={styles.votes}>
          <span aria-hidden="true">✓ {votes}</span>
          <span className="only-read-aloud">{votesAloud}</span>
        </span>
      )}
      {claim && (
        <span className={styles.looking}>
          <Revealed text={claim} />
        </span>
      )}
      {looking && <span className={styles.looking}>{looking}</span>}
      {ending && <span className={styles.ending}>{ending}</span>}
      {left && (
        <span className={styles.left}>
          <span aria-hidden="true">{left}</span>
          <span className="only-read-aloud">{leftAloud}</span>
        </span>
      )}
    </span>
  );
}

/** What is asked is the agent's; which tool would run is not. */
function Headline({ entry }: { entry: InboxEntry }) {
  const { tool, headline } = entry;
  const id = `headline-${entry.request_id}`;
  if (tool === null) {
    return (
      <span id={id} className={styles.words}>
        <Revealed text={headline} />
      </span>
    );
  }
  const isNamed = `${headline} `.startsWith(`${tool} `);
  return (
    <span id={id} className={styles.call}>
      {isNamed && (
        <b>
          <Revealed text={tool} />
        </b>
      )}{" "}
      <Revealed text={isNamed ? headline.slice(tool.length + 1) : headline} />
    </span>
  );
}

function Meta({ entry, kind, age, place, project, owner }: RowProps) {
  return (
    <span className={styles.meta}>
      <span className={mayShrink(entry.agent)}>
        <Revealed text={entry.agent} />
      </span>
      {project && (
        <span className={styles.project}>
          <Folder size={12} aria-hidden="true" /> <Revealed text={project} />
        </span>
      )}
      {entry.kind === "approval" && <span>{kind}</span>}
      <span>{age}</span>
      {place && <span>{place}</span>}
      {owner && <span className={mayShrink(owner)}>{owner}</span>}
    </span>
  );
}

/** A long name does. What is left of it is never less than three letters, which are more room than a short one takes. */
function mayShrink(name: string): string | undefined {
  return name.length > 3 ? styles.name : undefined;
}
