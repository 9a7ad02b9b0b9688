import {
  Ban,
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
import { useOpenSibling } from "../api/use-siblings";
import { useCopy } from "../copy";
import { Sentence } from "../forms/remember";
import { draftText } from "../model/drafts";
import type { Situation } from "../model/outcome";
import { useReview } from "../review";
import { useAddresses } from "../use-addresses";
import styles from "./bar.module.css";
import { StateWords } from "./state-words";

const ICONS: Readonly<Record<Situation, LucideIcon>> = {
  open: Info,
  sending: Send,
  unsure: CircleQuestionMark,
  receipt: CircleCheck,
  taken: UserCheck,
  expired: Clock,
  settled: Info,
  deleted: Info,
  offline: Unplug,
};

/** A tick is for what was done as it was asked for. */
const RECEIPTS: Readonly<Partial<Record<Act, LucideIcon>>> = { reject: Ban, response: MessageSquareReply, cancel: Ban };

/** What became of the request, in the place where it would be answered. What it asked stays above. */
export function StateNote() {
  const { situation, delivery } = useReview();
  const other = situation === "receipt" && delivery ? RECEIPTS[delivery.act] : undefined;
  const Icon = other ?? ICONS[situation];
  const isTick = situation === "receipt" && !other;
  return (
    <div className={styles.state} data-state={situation}>
      <div className={styles.happened}>
        <Icon aria-hidden="true" size={18} className={isTick ? styles.done : styles.icon} />
        <p className={styles.words} tabIndex={-1} data-act="state">
          <StateWords />
        </p>
      </div>
      {situation === "receipt" && <Receipt />}
      {(situation === "taken" || situation === "expired") && <DraftKept />}
      {situation === "offline" && <Retry />}
    </div>
  );
}

function Receipt() {
  const t = useTranslations("request.states");
  const { request, embedded, delivery, kept } = useReview();
  const { inbox, requestAt } = useAddresses();
  const act = delivery?.act;
  const next = useOpenSibling(request);
  return (
    <>
      {kept && (act === "accept" || act === "reject") && (
        <p className={styles.more}>
          {t.rich("kept", { sentence: () => <Sentence key="sentence" kept={kept} isRefusal={act === "reject"} /> })}
        </p>
      )}
      {!embedded && (
        <div className={styles.links}>
          {next && <Link href={requestAt(next)}>{t("nextSibling")}</Link>}
          <Link href={`/chat/${encodeURIComponent(request.conversation_id)}`}>{t("toThread")}</Link>
          <Link href={inbox}>{t("toInbox")}</Link>
        </div>
      )}
    </>
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
