import { useQuery } from "@tanstack/react-query";
import type { Agents } from "interlock-client/inbox";
import { useTranslations } from "use-intl";
import { useGroups } from "@/api/groups";
import { usePerson } from "@/api/session";
import { get } from "@/api/transport";
import { Button } from "@/design/button";
import { spelledOut } from "@/text/reveal";
import { type Filters, isFiltered, KINDS, RISKS } from "./filters";
import styles from "./inbox.module.css";
import { SearchField } from "./search-field";

interface Props {
  id: string;
  filters: Filters;
  /** Those that have asked something. */
  agents: readonly string[];
  /** On phones they are shown when asked for. */
  isOpen: boolean;
  onFilter: (filters: Filters) => void;
  onLeave: () => void;
}

const NONE: Filters = { kind: null, risk: null, agent: null, q: null, for: null };

export function FilterBar({ id, filters, agents, isOpen, onFilter, onLeave }: Props) {
  const t = useTranslations("inbox");
  const shell = useTranslations("shell");
  const names = useAgentNames(agents, filters.agent);
  const whose = useWhose(filters.for);
  const looks = [styles.filters, isOpen && styles.shown, whose && styles.four].filter(Boolean).join(" ");
  return (
    <search id={id} className={looks}>
      <SearchField text={filters.q ?? ""} onSearch={(q) => onFilter({ ...filters, q })} onLeave={onLeave} />
      {whose && (
        <Choice
          label={t("whose.label")}
          any={t("whose.all")}
          value={filters.for}
          options={whose}
          onChoose={(chosen) => onFilter({ ...filters, for: chosen })}
        />
      )}
      <Choice
        label={t("kind")}
        any={t("anyKind")}
        value={filters.kind}
        options={KINDS.map((kind) => [kind, shell(`kind.${kind}`)])}
        onChoose={(kind) => onFilter({ ...filters, kind })}
      />
      <Choice
        label={t("risk")}
        any={t("anyRisk")}
        value={filters.risk}
        options={RISKS.map((risk) => [risk, shell(`risk.${risk}`)])}
        onChoose={(risk) => onFilter({ ...filters, risk })}
      />
      <Choice
        label={t("agent")}
        any={t("anyAgent")}
        value={filters.agent}
        options={names.map((name) => [name, spelledOut(name)])}
        onChoose={(agent) => onFilter({ ...filters, agent })}
      />
      {isFiltered(filters) && (
        <Button look="quiet" className={styles.clear} onClick={() => onFilter(NONE)}>
          {t("clear")}
        </Button>
      )}
    </search>
  );
}

type Options = readonly (readonly [string, string])[];

/** Null: whose a request is makes no difference. Without accounts everything is everybody's. */
function useWhose(value: string | null): Options | null {
  const t = useTranslations("inbox.whose");
  const { auth, role, username } = usePerson();
  const { data: groups = [] } = useGroups(auth === "accounts");
  if (auth !== "accounts" || (role === "owner" && groups.length === 0 && value === null)) return null;
  const own = groups.filter((one) => one.members.includes(username)).map((one) => `group:${one.name}`);
  const known = [...new Set([...own, ...(value?.startsWith("group:") ? [value] : [])])];
  const named = known.map((one) => [one, t("group", { name: spelledOut(one.slice("group:".length)) })] as const);
  return [["me", t("me")], ...named, ["claimed", t("claimed")]];
}

interface ChoiceProps<V extends string> {
  label: string;
  any: string;
  value: V | null;
  options: readonly (readonly [V, string])[];
  onChoose: (value: V | null) => void;
}

function Choice<V extends string>({ label, any, value, options, onChoose }: ChoiceProps<V>) {
  return (
    <select
      aria-label={label}
      className={value === null ? styles.choice : `${styles.choice} ${styles.chosen}`}
      value={value ?? ""}
      onChange={(event) => onChoose(options.find(([one]) => one === event.target.value)?.[0] ?? null)}
    >
      <option value="">{any}</option>
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** The agents hosted here, those that ask from outside, and the one that is looked for. */
function useAgentNames(asking: readonly string[], chosen: string | null): string[] {
  const hosted = useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => get<Agents>("/api/v1/agents", {}, signal),
  });
  const names = [...(hosted.data?.agents ?? []).map((agent) => agent.name), ...asking, ...(chosen ? [chosen] : [])];
  return [...new Set(names)].sort();
}
