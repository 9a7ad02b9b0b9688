/** What a row says, as text: a row is drawn again only when one of its words has changed. */
import type { InboxEntry } from "interlock-client/inbox";
import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { SIGNS } from "@/history/telling";
import { left } from "@/request/model/countdown";
import { SERVER } from "@/request/model/outcome";
import { claimAt } from "@/request/model/people";
import { ownTitle } from "@/request/model/title";
import { age } from "./age";
import type { Ending } from "./endings";
import type { Row } from "./list";

export interface RowTexts {
  kind: string;
  age: string;
  /** Null where there is no deadline, or where it no longer matters. */
  left: string | null;
  leftAloud: string | null;
  looking: string | null;
  /** Who has said that they have it. */
  claim: string | null;
  /** How many of how many have said yes; null where one is enough. */
  votes: string | null;
  votesAloud: string | null;
  ending: string | null;
  /** Which of the requests of one pause. */
  place: string | null;
  /** What an agent elsewhere works on, such as the folder of a coding agent. */
  project: string | null;
  /** For whom, where that is somebody else. */
  owner: string | null;
}

export function useRowTexts(me: string): (row: Row, now: number) => RowTexts {
  const t = useTranslations("inbox");
  const kinds = useTranslations("shell.kind");
  return useMemo(() => {
    const times = timesIn(t);
    return (row, now) => ({
      kind: kinds(row.entry.kind),
      age: times.age(now - Date.parse(row.entry.created_at)),
      ...leftTexts(t, times, row, now),
      ...peopleTexts(t, row, now, me),
      ...teamTexts(t, row, now, me),
      place: placeText(t, row),
      project: projectOf(row.entry),
    });
  }, [t, kinds, me]);
}

type Texts = ReturnType<typeof useTranslations<"inbox">>;

/** Asked for with every second and every row, and nearly always the same few. */
function timesIn(t: Texts) {
  const known = new Map<string, string>();
  const once = (name: string, spell: () => string) => {
    const found = known.get(name) ?? spell();
    known.set(name, found);
    return found;
  };
  return {
    age: (milliseconds: number) => {
      const told = age(milliseconds);
      if (told.unit === "now") return once("now", () => t("age.now"));
      return once(`age ${told.unit} ${told.count}`, () => t(`age.${told.unit}`, { count: told.count }));
    },
    left: (milliseconds: number) => {
      const told = left(milliseconds);
      if (told.unit === "clock") return told.text;
      if (told.unit === "none") return once("none", () => t("left.none"));
      return once(`left ${told.unit} ${told.count}`, () => t(`left.${told.unit}`, { count: told.count }));
    },
  };
}

function leftTexts(t: Texts, times: ReturnType<typeof timesIn>, { entry, ending }: Row, now: number) {
  if (ending || entry.expires_at === null) return { left: null, leftAloud: null };
  const left = times.left(Date.parse(entry.expires_at) - now);
  return { left, leftAloud: t("leftAloud", { left }) };
}

function peopleTexts(t: Texts, { entry, ending, lookedUntil }: Row, now: number, me: string) {
  const others = lookedUntil > now && !ending ? entry.looking.filter((name) => name !== me) : [];
  return {
    looking: others.length ? t("looking", { names: others.join(", "), count: others.length }) : null,
    ending: ending && endingText(t, ending, me),
    owner: entry.owner === me ? null : t(entry.outside ? "agentOf" : "owner", { name: entry.owner }),
  };
}

function teamTexts(t: Texts, { entry, ending }: Row, now: number, me: string) {
  const votes = ending ? null : (entry.people?.votes ?? null);
  const claim = ending ? null : claimAt(entry, now);
  return {
    claim: claim && (claim.by === me ? t("claimMine") : t("claimOf", { name: claim.by })),
    votes: votes && `${votes.yes}/${votes.needed}`,
    votesAloud: votes && t("votesAloud", { yes: votes.yes, needed: votes.needed }),
  };
}

function placeText(t: Texts, { entry }: Row): string | null {
  return entry.in_pause > 1 ? t("pause", { position: entry.position + 1, count: entry.in_pause }) : null;
}

/** What an agent elsewhere calls the place where it works. */
export function projectOf(entry: InboxEntry): string | null {
  return entry.outside ? ownTitle(entry) : null;
}

function endingText(t: Texts, { how, by }: Ending, me: string): string {
  const named = by === me ? t("you") : by === SERVER ? t("server") : by;
  const name = named ?? t("nobody");
  const words = t(`ending.${how}`, { name });
  return how === "gone" || how === "deleted" ? words : `${SIGNS[how]} ${words}`;
}
