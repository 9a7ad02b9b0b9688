import { useQuery, useQueryClient } from "@tanstack/react-query";
import { InvalidInput } from "interlock-client/errors";
import type { Away, AwayTime } from "interlock-client/inbox";
import { type FormEvent, useId, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { serverNow, useServerNow } from "@/api/clock";
import { callOnce, get, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";
import { Button } from "@/design/button";
import { Field } from "@/design/field";
import { useNames } from "@/request/team/api";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import { Read } from "../lists";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { momentOf, spelledTime, standingAt } from "./times";

const AWAY = ["settings", "away"] as const;
const PATH = "/api/v1/away";
const DAY = 86_400_000;

function useSetAway() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (away: AwayTime) => callOnce<Away>({ method: "PUT", path: PATH, body: { ...away } }),
    onSuccess: (set) => client.setQueryData(AWAY, set),
  });
}

function useEndAway() {
  const client = useQueryClient();
  return useAct({
    mutationFn: () => remove<Away>(PATH),
    onSuccess: (set) => client.setQueryData(AWAY, set),
  });
}

/** When somebody is away, and who stands in. */
export function AwaySection() {
  const t = useTranslations("settings.away");
  const away = useQuery({ queryKey: AWAY, queryFn: ({ signal }) => get<Away>(PATH, {}, signal) });
  return (
    <>
      <p className={lists.what}>{t("what")}</p>
      <Read query={away} none="" isEmpty={() => false}>
        {(found) => (
          <>
            <Present away={found.away} />
            <AwayForm away={found.away} />
          </>
        )}
      </Read>
    </>
  );
}

function Present({ away }: { away: AwayTime | null }) {
  const t = useTranslations("settings.away");
  const announce = useAnnounce();
  const day = useDay();
  const ending = useEndAway();
  const words = useRef<HTMLParagraphElement>(null);
  const now = useServerNow();
  const standing = away && standingAt(away, now);
  const end = () => {
    const ended = () => {
      announce(t("ended"));
      words.current?.focus();
    };
    ending.mutate(undefined, { onSuccess: ended });
  };
  return (
    <>
      <p ref={words} tabIndex={-1} data-act="away">
        <strong>
          {away && standing ? t(standing, { from: day(away.from), until: day(away.until) }) : t("present")}
        </strong>{" "}
        {away?.to &&
          standing !== "over" &&
          t.rich("standIn", { name: () => <Revealed key="name" text={away.to ?? ""} /> })}
      </p>
      {ending.isError && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: ending.error.message })}
        </p>
      )}
      {away && standing !== "over" && (
        <p>
          <Button aria-disabled={ending.isPending} onClick={end}>
            {t(standing === "away" ? "back" : "backLater")}
          </Button>
        </p>
      )}
    </>
  );
}

function AwayForm({ away }: { away: AwayTime | null }) {
  const t = useTranslations("settings.away");
  const announce = useAnnounce();
  const setting = useSetAway();
  const [from, setFrom] = useState(() => spelledTime(away?.from ?? serverNow()));
  const [until, setUntil] = useState(() => spelledTime(away?.until ?? serverNow() + DAY));
  const [to, setTo] = useState(away?.to ?? "");
  const [isTried, setTried] = useState(false);
  const [start, end] = [momentOf(from), momentOf(until)];
  const save = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!start || !end || setting.isPending) return;
    setting.mutate({ from: start, until: end, to: to.trim() || null }, { onSuccess: () => announce(t("saved")) });
  };
  const isRange = wrongIn(setting.error, "until") !== null;
  const time = { type: "datetime-local", autoComplete: "off" } as const;
  return (
    <form className={lists.form} onSubmit={save} noValidate>
      <h2>{t("title")}</h2>
      <Field label={t("from")} {...time} value={from} onChange={(event) => setFrom(event.target.value)} />
      <Field
        label={t("until")}
        {...time}
        value={until}
        wrong={isTried && !(start && end) ? t("timeMissing") : isRange && t("range")}
        onChange={(event) => setUntil(event.target.value)}
      />
      <StandIn to={to} onTo={setTo} error={setting.error} />
      {setting.error && !(setting.error instanceof InvalidInput) && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: setting.error.message })}
        </p>
      )}
      <Button type="submit" look="primary" aria-disabled={setting.isPending}>
        {t("save")}
      </Button>
    </form>
  );
}

function StandIn({ to, onTo, error }: { to: string; onTo: (to: string) => void; error: Error | null }) {
  const t = useTranslations("settings.away");
  const names = useNames(to.trim());
  const list = useId();
  const code = wrongIn(error, "to");
  return (
    <>
      <Field
        label={t("to")}
        rule={t("toRule")}
        list={list}
        maxLength={64}
        autoComplete="off"
        value={to}
        wrong={code === "cycle" || code === "too_long" ? t(code) : code && t("unknown")}
        onChange={(event) => onTo(event.target.value)}
      />
      <datalist id={list}>
        {(names.data ?? []).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function wrongIn(error: Error | null, field: string): string | null {
  if (!(error instanceof InvalidInput)) return null;
  return error.errors.find((one) => one.field === field)?.code ?? null;
}
