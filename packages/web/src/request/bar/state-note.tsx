import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleQuestionMark,
  Clock,
  Info,
  type LucideIcon,
  MessageSquareReply,
  Send,
  Unplug,
  UserCheck,
} from "lucide-react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useConnection, useLive } from "@/api/live-context";
import { Button } from "@/design/button";
import type { Act } from "../api/deliveries";
import { useNext } from "../api/use-next";
import { useOpenSibling } from "../api/use-siblings";
import { useCopy } from "../copy";
import { Sentence } from "../forms/remember";
import { draftText } from "../model/drafts";
import type { Situation } from "../model/outcome";
import { seesConversation } from "../model/people";
import { type Review, useReview } from "../review";
import { useTakeBack } from "../team/api";
import { useAddresses } from "../use-addresses";
import styles from "./bar.module.css";
import { DrillNote, drillOf } from "./drill-note";
import { StateWords } from "./state-words";

const ICONS: Readonly<Record<Situation, LucideIcon>> = {
  open: Info,
  sending: Send,
  unsure: CircleQuestionMark,
  receipt: CircleCheck,
  voted: UserCheck,
  taken: UserCheck,
  expired: Clock,
  settled: Info,
  deleted: Info,
  offline: Unplug,
};

/** A tick is for what was done as it was asked for. */
const RECEIPTS: Readonly<Partial<Record<Act, LucideIcon>>> = { reject: Ban, response: MessageSquareReply, cancel: Ban };

function receiptIcon({ delivery, request }: Review): LucideIcon {
  if (["failed", "run_failed"].includes(request.result?.status ?? "")) return CircleAlert;
  return (delivery && RECEIPTS[delivery.act]) ?? ICONS.receipt;
}

/** What became of the request, in the place where it would be answered. What it asked stays above. */
export function StateNote() {
  const review = useReview();
  const { situation } = review;
  const Icon = situation === "receipt" ? receiptIcon(review) : ICONS[situation];
  const isTick = Icon === CircleCheck;
  return (
    <div className={styles.state} data-state={situation}>
      <div className={styles.happened}>
        <Icon aria-hidden="true" size={18} className={isTick ? styles.done : styles.icon} />
        <p className={styles.words} tabIndex={-1} data-act="state">
          <StateWords />
        </p>
      </div>
      <DrillNote />
      {situation === "receipt" && <Receipt />}
      {situation === "voted" && <Voted />}
      {(situation === "taken" || situation === "expired") && <DraftKept />}
      {situation === "offline" && <Retry />}
    </div>
  );
}

function Receipt() {
  const t = useTranslations("request.states");
  const review = useReview();
  const { embedded, delivery, kept } = review;
  const act = delivery?.act;
  // Nothing of a drill is remembered.
  const isKept = kept && drillOf(review) === null && (act === "accept" || act === "reject");
  return (
    <>
      {isKept && (
        <p className={styles.more}>
          {t.rich("kept", { sentence: () => <Sentence key="sentence" kept={kept} isRefusal={act === "reject"} /> })}
        </p>
      )}
      {!embedded && <Onward />}
    </>
  );
}

/** Where to go from here; a drill is in no conversation. */
function Onward() {
  const t = useTranslations("request.states");
  const review = useReview();
  const { request } = review;
  const { inbox, requestAt } = useAddresses();
  const next = useOpenSibling(request);
  return (
    <div className={styles.links}>
      {next && (
        <Link href={requestAt(next)} className={styles.next}>
          {t("nextSibling")}
        </Link>
      )}
      {!next && <NextRequest />}
      {drillOf(review) === null && seesConversation(request) && (
        <Link href={`/chat/${encodeURIComponent(request.conversation_id)}`}>{t("toThread")}</Link>
      )}
      <Link href={inbox}>{t("toInbox")}</Link>
    </div>
  );
}

/** Until the end a yes can be taken back. */
function Voted() {
  const t = useTranslations("request.team");
  const { request, delivery, embedded } = useReview();
  const isNo = delivery?.act === "reject" || request.people?.own_vote === "no";
  const taking = useTakeBack(request.request_id);
  return (
    <>
      {taking.isError && (
        <p className={styles.problem} role="alert">
          {t("failed", { message: taking.error.message })}
        </p>
      )}
      <div className={styles.row}>
        <Button data-act="take-back" aria-disabled={taking.isPending} onClick={() => taking.mutate()}>
          {t(isNo ? "takeBackNo" : "takeBack")}
        </Button>
        {!embedded && <Onward />}
      </div>
    </>
  );
}

function NextRequest() {
  const t = useTranslations("request.states");
  const { request } = useReview();
  const { requestAt } = useAddresses();
  const next = useNext(request);
  if (!next) return null;
  if (next.id === null) return <span className={styles.none}>{t("nothingElse")}</span>;
  return (
    <Link href={requestAt(next.id)} className={styles.next}>
      {t("nextRequest", { count: next.count })}
    </Link>
  );
}

function DraftKept() {
  const t = useTranslations("request.states");
  const run = useTranslations("request.run");
  const { draft } = useReview();
  const { isCopied, copy } = useCopy();
  const text = draftText(draft);
  if (!text) return null;
  return (
    <div className={styles.row}>
      <span>{t("draftKept")}</span>
      <Button onClick={() => copy(text)}>{isCopied ? run("copied") : t("copyDraft")}</Button>
    </div>
  );
}

function Retry() {
  const t = useTranslations("request.states");
  const live = useLive();
  const { state } = useConnection();
  return (
    <div className={styles.row}>
      <Button onClick={live.retry} aria-disabled={state !== "offline"}>
        {t("retry")}
      </Button>
    </div>
  );
}
