import type { InboxRequest } from "interlock-client/inbox";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { isAtTerminal, outcomeOf, SERVER } from "./model/outcome";
import { useMoment } from "./moment";

const PLACES = [
  "web",
  "hitl",
  "confirm",
  "threads",
  "sessions",
  "agui",
  "langgraph",
  "mcp",
  "hooks",
  "server",
  "grant",
  "saved",
  "policy",
  "deadline",
  "override",
] as const;

export type End = Pick<
  InboxRequest,
  "kind" | "status" | "response" | "answered_by" | "answered_at" | "source" | "reason"
>;

/** One sentence: who ended a request, how, when and from where. */
export function useEndWords(): (end: End) => string {
  const t = useTranslations("request.states");
  const moment = useMoment();
  const { username } = usePerson();
  return (end) => {
    const { answered_by: by, answered_at, source } = end;
    const who = by === username ? t("you") : by ? t("named", { name: by }) : t("somebody");
    const place = PLACES.find((one) => one === source);
    const where = place ? t(`where.${place}`) : source ? t("where.other", { source }) : t("where.unknown");
    return t(`taken.${howOf(end)}`, { who, time: moment(answered_at), where });
  };
}

function howOf(end: End) {
  if (isAtTerminal(end)) return "atTerminal";
  return end.answered_by === SERVER && end.status === "cancelled" ? "byServer" : outcomeOf(end);
}
