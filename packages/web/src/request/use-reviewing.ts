import type { InboxRequest } from "interlock-client/inbox";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useConnection } from "@/api/live-context";
import { type Delivery, deliveries } from "./api/deliveries";
import { useDelivery } from "./api/use-delivery";
import { useDwell } from "./api/use-dwell";
import { useOverdue } from "./api/use-overdue";
import type { useRequest } from "./api/use-request";
import { neededCode } from "./model/codes";
import { type Draft, dropDraft, keepDraft, readDraft } from "./model/drafts";
import { looksOf } from "./model/looks";
import { obstacleTo } from "./model/obstacle";
import { situationOf } from "./model/outcome";
import { asOffered, leftOut } from "./model/people";
import type { Kept } from "./model/remember";
import type { Edit, Mode, Review } from "./review";
import { useArming, type useGuard } from "./use-guard";
import { useSending } from "./use-sending";
import type { End } from "./views/use-end";

const MORE_TIME = 300;

/** Everything of a review but what needs the page's elements. */
export function useReviewing(latest: InboxRequest, source: ReturnType<typeof useRequest>, embedded: boolean) {
  const { request, isStale, showNew, wasOpen } = useSnapshot(latest);
  const id = request.request_id;
  const shown = `${request.digest} ${request.file?.sha256 ?? ""}`;
  const form = useForm(id, shown);
  const dwell = useDwell(shown);
  const delivery = useDelivery(id);
  const situation = useSituation(request, wasOpen, source.isDeleted);
  const [look, setLook] = useState(() => looksOf(request)[0] ?? "json");
  const { mode, kept, draft, typed } = form;
  const code = neededCode(request, mode, kept, draft);

  const circumstances = () => ({ dwell: dwell(), ...(code ? { code: typed } : {}) });
  const sending = useSending({ request, shown, kept, draft, how: circumstances });
  useCounted(delivery, source, form);
  const problem = delivery?.state === "refused" ? delivery.error : null;
  const extend = () => source.extend(MORE_TIME);
  const page = { embedded, leftOut: leftOut(latest), look, setLook, isStale, showNew, extend };
  return { ...form, ...page, ...sending, request, shown, situation, delivery, code, problem };
}

/** With what is known of the page: whether the end was seen, and whether input counts yet. */
export function useReviewOn(
  base: ReturnType<typeof useReviewing>,
  end: End,
  guard: ReturnType<typeof useGuard>,
): Review {
  const { edit, mode, code, typed, isStale } = base;
  const obstacle = obstacleTo({
    isStale,
    hasSeenEnd: end.hasSeen,
    code,
    typed,
    edit: mode === "edit" ? fitOf(edit) : "none",
  });
  const arming = useArming(
    `${base.shown} ${mode} ${base.situation} ${isStale} ${!!base.over} ${JSON.stringify(base.kept)}`,
  );
  return { ...base, ...arming, end, obstacle, isLate: guard.isLate };
}

function fitOf(edit: Edit | null) {
  if (!edit || edit.misfits.length > 0) return "misfit";
  return edit.isChanged ? "fits" : "unchanged";
}

/** What is shown stays as it is until its reader asks for the new state: a file may change under the page. */
function useSnapshot(latest: InboxRequest) {
  const [file, setFile] = useState(latest.file);
  const [wasOpen] = useState(latest.status === "pending");
  const isPending = latest.status === "pending";
  const isStale = isPending && wasOpen && latest.file?.sha256 !== file?.sha256;
  const showNew = useCallback(() => setFile(latest.file), [latest.file]);
  // Of what was settled before, the file is no longer what the call was to change.
  const request = useMemo(() => asOffered({ ...latest, file: wasOpen ? file : null }), [latest, file, wasOpen]);
  return { request, isStale, showNew, wasOpen };
}

function useSituation(request: InboxRequest, wasOpen: boolean, isDeleted: boolean) {
  const delivery = useDelivery(request.request_id);
  const { state } = useConnection();
  const isOverdue = useOverdue(request.status === "pending" ? request.expires_at : null);
  return situationOf({ request, delivery, wasOpen, isOverdue, isDeleted, isOffline: state === "offline" });
}

/** A vote that was counted, and was not the last: the request is open still, and says from now on that they have voted. */
function useCounted(
  delivery: Delivery | null,
  { request, counted }: ReturnType<typeof useRequest>,
  { setMode, setTyped, setDraft }: ReturnType<typeof useForm>,
): void {
  const id = request?.request_id ?? "";
  useEffect(() => {
    if (delivery?.state !== "done" || delivery.settled.status !== "pending") return;
    counted(delivery.act === "reject" ? "no" : "yes", delivery.settled.votes ?? null);
    setMode("look");
    setTyped("");
    setDraft({ refusal: "" });
    deliveries.forget(id);
  }, [delivery, id, counted, setMode, setTyped, setDraft]);
}

/** How far the person has come; the draft outlives the page. */
function useForm(id: string, shown: string) {
  const [mode, setMode] = useState<Mode>("look");
  const [draft, setOwnDraft] = useState(() => readDraft(id));
  const [edit, setEdit] = useState<Edit | null>(null);
  const [typed, setTyped] = useState("");
  const [kept, setKept] = useState<Kept>(null);
  const [save, setSave] = useState(false);
  const [isTried, setTried] = useState(false);
  const secrets = useRef(new Map<string, string>());
  const setDraft = useCallback<Review["setDraft"]>((changed) => {
    setOwnDraft((before: Draft) => (typeof changed === "function" ? changed(before) : { ...before, ...changed }));
  }, []);
  const delivery = useDelivery(id);
  const isDone = delivery?.state === "done";
  useEffect(() => {
    if (isDone) dropDraft(id);
    else keepDraft(id, draft);
  }, [id, draft, isDone]);
  useEffect(() => {
    if (isDone) secrets.current.clear();
  }, [isDone]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: digits are typed for what was shown
  useEffect(() => setTyped(""), [shown]);
  // What became of an earlier answer is of this page no more.
  useEffect(() => () => deliveries.forget(id), [id]);
  const chosen = { kept, setKept, save, setSave, isTried, setTried };
  return { mode, setMode, draft, setDraft, edit, setEdit, typed, setTyped, secrets, ...chosen };
}
