import type { InboxRequest } from "interlock-client/inbox";
import {
  Braces,
  ChevronLeft,
  ChevronRight,
  CircleHelp,
  FileDiff,
  FileText,
  KeyRound,
  ListChecks,
  Split,
  Terminal,
} from "lucide-react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { usePerson } from "@/api/session";
import { Revealed } from "@/text/revealed";
import { useOthers } from "../api/use-looking";
import { seesConversation, whoOf } from "../model/people";
import { siblingOf } from "../model/siblings";
import { ownTitle } from "../model/title";
import { useMoment } from "../moment";
import { Name } from "../names";
import { useReview } from "../review";
import { useAddresses } from "../use-addresses";
import styles from "./head.module.css";

const ICONS = { clarification: CircleHelp, decision: Split, env_var: KeyRound, questions: ListChecks } as const;
const RUN_ICONS = { command: Terminal, file: FileDiff, json: Braces, none: Braces } as const;

export function Facts() {
  const t = useTranslations("request.head");
  const kinds = useTranslations("shell.kind");
  const moment = useMoment();
  const person = usePerson();
  const { request, embedded } = useReview();
  const Icon = request.kind === "approval" ? runIcon(request) : ICONS[request.kind];
  return (
    <ul className={styles.facts} aria-label={t("about")}>
      <li className={styles.kind}>
        <Icon aria-hidden="true" size={14} /> {kinds(request.kind)}
      </li>
      <li>
        <Name text={request.agent} />
      </li>
      {!embedded && seesConversation(request) && <Thread request={request} />}
      {request.owner !== person.username && request.owner && (
        <li>{t(request.outside ? "agentOf" : "owner", { name: request.owner })}</li>
      )}
      <li>{t("asked", { time: moment(request.created_at) })}</li>
      {request.in_pause > 1 && <Place request={request} />}
      <Asked request={request} />
      <Others names={request.looking} me={person.username} />
    </ul>
  );
}

function runIcon({ view }: InboxRequest) {
  if (view.presentation) return view.presentation.markdown ? FileText : FileDiff;
  return RUN_ICONS[view.type];
}

function Thread({ request }: { request: InboxRequest }) {
  const t = useTranslations("request.head");
  const own = ownTitle(request);
  return (
    <li>
      <Link href={`/chat/${encodeURIComponent(request.conversation_id)}`}>
        {own ? t.rich("in", { title: () => <Revealed key="title" text={own} /> }) : t("openThread")}
      </Link>
    </li>
  );
}

function Place({ request }: { request: InboxRequest }) {
  const t = useTranslations("request.head");
  const { embedded } = useReview();
  const { requestAt } = useAddresses();
  const [previous, next] = [siblingOf(request, -1), siblingOf(request, 1)];
  const place = request.siblings.indexOf(request.request_id) + 1;
  return (
    <li className={styles.place}>
      {!embedded && previous && (
        <Link
          href={requestAt(previous)}
          aria-label={t("sibling", { place: place - 1, count: request.in_pause })}
          className={styles.step}
        >
          <ChevronLeft aria-hidden="true" size={16} />
        </Link>
      )}
      {t("place", { place, count: request.in_pause })}
      {!embedded && next && (
        <Link
          href={requestAt(next)}
          aria-label={t("sibling", { place: place + 1, count: request.in_pause })}
          className={styles.step}
        >
          <ChevronRight aria-hidden="true" size={16} />
        </Link>
      )}
    </li>
  );
}

/** Whom it is put to, in short. */
function Asked({ request: { people } }: { request: InboxRequest }) {
  const t = useTranslations("request.team");
  if (!people) return null;
  const { needs, votes } = people;
  const who = whoOf(needs);
  if (!who && !votes) return null;
  return (
    <li>
      {who
        ? t.rich("of", { people: needs.people, who: () => <Revealed key="who" text={who} /> })
        : t("ofAny", { people: needs.people })}
      {votes && ` (${votes.yes}/${votes.needed})`}
    </li>
  );
}

function Others({ names, me }: { names: string[]; me: string }) {
  const t = useTranslations("request.head");
  const others = useOthers(names, me);
  if (others.length === 0) return null;
  return <li>{t("looking", { names: others.join(", "), count: others.length })}</li>;
}
