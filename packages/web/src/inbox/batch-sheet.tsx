import type { InboxEntry } from "interlock-client/inbox";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import { Dialog } from "@/design/dialog";
import { useDwell } from "@/request/api/use-dwell";
import { useAnnounce } from "@/shell/announcer";
import { type Call, chosenOf, obstacleTo, partsOf, progressOf } from "./batch";
import styles from "./batch.module.css";
import { BatchActs } from "./batch-acts";
import { BatchCall } from "./batch-call";
import { useCalls } from "./use-calls";
import { useSending } from "./use-sending";

/** Every call in full, then one answer that goes to each of them. */
export function BatchSheet({ entries, onClose }: { entries: readonly InboxEntry[]; onClose: () => void }) {
  const t = useTranslations("inbox.batch");
  const calls = useCalls(entries);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(() => new Set(entries.map((one) => one.request_id)));
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const dwell = useDwell(useMemo(() => entries.map((one) => one.request_id).join(), [entries]));
  const { state } = useConnection();
  const sending = useSending();
  const isOffline = state === "offline";
  const chosen = chosenOf(calls, ticked);
  const obstacle = obstacleTo({ calls, ticked, seen, isOffline });
  const answer = useAnswer(calls, () => chosen, sending, dwell);
  const tick = useCallback((id: string) => setTicked((before) => toggled(before, id)), []);
  const see = useCallback((id: string) => setSeen((before) => new Set([...before, id])), []);
  const reader = useRef<HTMLDivElement>(null);
  useEffect(() => reader.current?.focus(), []);
  return (
    <Dialog title={t("title", { count: entries.length })} onClose={onClose} wide>
      <div className={styles.sheet}>
        <p className={styles.what}>{t("what")}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with keys */}
        <section ref={reader} className={styles.calls} tabIndex={0} aria-label={t("label")}>
          <Calls calls={calls} ticked={ticked} isSending={sending.at !== null} onTick={tick} onSeen={see} />
        </section>
        <BatchActs
          calls={calls}
          chosen={chosen}
          obstacle={obstacle}
          isOffline={isOffline}
          sending={sending}
          onAnswer={answer}
          onClose={onClose}
        />
      </div>
    </Dialog>
  );
}

function useAnswer(
  calls: readonly Call[],
  chosen: () => Call[],
  sending: ReturnType<typeof useSending>,
  dwell: () => number,
) {
  const t = useTranslations("inbox.batch");
  const announce = useAnnounce();
  const newest = useRef(calls);
  useEffect(() => {
    newest.current = calls;
  });
  return async (act: "accept" | "reject") => {
    const count = chosen().length;
    await sending.send(chosen(), act, dwell);
    const done = newest.current.filter((call) => progressOf(call).type === "done").length;
    announce(t("done", { done, count }));
  };
}

interface CallsProps {
  calls: readonly Call[];
  ticked: ReadonlySet<string>;
  isSending: boolean;
  onTick: (id: string) => void;
  onSeen: (id: string) => void;
}

function Calls({ calls, ticked, isSending, onTick, onSeen }: CallsProps) {
  const all = calls.flatMap((call) => (call.request ? [partsOf(call.request)] : []));
  return calls.map((call, place) => (
    <BatchCall
      key={call.entry.request_id}
      call={call}
      place={place + 1}
      count={calls.length}
      others={all}
      isTicked={ticked.has(call.entry.request_id)}
      isSending={isSending}
      onTick={onTick}
      onSeen={onSeen}
    />
  ));
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(id)) after.add(id);
  return after;
}
