import type { Claim } from "interlock-client/inbox";
import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useServerNow } from "@/api/clock";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { lazyDialog } from "@/shell/lazy-page";
import { Revealed } from "@/text/revealed";
import { claimAt } from "../model/people";
import { useMoment } from "../moment";
import { useReview } from "../review";
import { useClaim, useRelease } from "./api";
import styles from "./team.module.css";

const PassOnDialog = lazyDialog(async () => (await import("./pass-on-dialog")).PassOnDialog);

/** Who has it and until when; and how to take it, let it go, or pass it on. */
export function Claiming() {
  const { request, situation } = useReview();
  const claim = claimAt(request, useServerNow());
  const isOpen = situation === "open" || situation === "voted";
  const mayAct = isOpen && request.people?.may_answer;
  if (!claim && !mayAct) return null;
  return (
    <div className={styles.claim}>
      {claim && <Holder claim={claim} />}
      {mayAct && <Acts claim={claim} />}
    </div>
  );
}

function Holder({ claim }: { claim: Claim }) {
  const t = useTranslations("request.team");
  const moment = useMoment();
  const { request } = useReview();
  const told = { by: () => <Revealed key="by" text={claim.by} />, time: moment(claim.until) };
  return (
    <p className={styles.text} data-act="claim">
      {t.rich(claim.mine ? "claimMine" : "claimOf", told)}
      {!claim.mine && request.people?.may_answer && ` ${t("still")}`}
    </p>
  );
}

function Acts({ claim }: { claim: Claim | null }) {
  const t = useTranslations("request.team");
  const announce = useAnnounce();
  const { request } = useReview();
  const claiming = useClaim(request.request_id);
  const releasing = useRelease(request.request_id);
  const place = useRef<HTMLDivElement>(null);
  const error = claiming.error ?? releasing.error;
  const isBusy = claiming.isPending || releasing.isPending;
  const take = () => {
    releasing.reset();
    claiming.mutate(undefined, { onSuccess: () => announce(t("claimed")) });
  };
  const letGo = () => {
    claiming.reset();
    // The button goes with what it did.
    const back = () => requestAnimationFrame(() => place.current?.querySelector("button")?.focus());
    releasing.mutate(undefined, {
      onSuccess: () => {
        announce(t("released"));
        back();
      },
    });
  };
  return (
    <>
      {error && (
        <p className={styles.trouble} role="alert">
          {t("failed", { message: error.message })}
        </p>
      )}
      <div ref={place} className={styles.acts}>
        {(!claim || claim.mine) && (
          <Button aria-disabled={isBusy} onClick={take}>
            {t(claim ? "keep" : "claim")}
          </Button>
        )}
        {claim?.mine && (
          <Button aria-disabled={isBusy} onClick={letGo}>
            {t("release")}
          </Button>
        )}
        {request.people?.own_vote === null && <PassOn />}
      </div>
    </>
  );
}

function PassOn() {
  const t = useTranslations("request.team");
  const { request } = useReview();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("passOn")}</Button>
      {isOpen && <PassOnDialog requestId={request.request_id} onClose={() => setOpen(false)} />}
    </>
  );
}
