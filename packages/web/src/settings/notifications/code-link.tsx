import { RateLimited } from "interlock-client/errors";
import type { OwnChannel } from "interlock-client/wire";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Field } from "@/design/field";
import { fieldMessage } from "@/request/problems";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useBeginLink, useFinishLink } from "./api";
import { focusChannel } from "./focus";

const LONGEST_ADDRESS = 254;
const LONGEST_CODE = 40;

/** An address is proven by the code that comes to it. */
export function CodeLink({ channel }: { channel: OwnChannel }) {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const t = useTranslations("settings.notifications");
  if (channel.addresses.length > 0 && !isOpen) {
    return (
      <p>
        <Button onClick={() => setOpen(true)}>{t("another")}</Button>
      </p>
    );
  }
  const done = () => {
    setSentTo(null);
    setOpen(false);
    focusChannel(channel.channel_id);
  };
  if (sentTo === null) return <AskForCode channelId={channel.channel_id} onSent={setSentTo} />;
  return <TypeCode channelId={channel.channel_id} address={sentTo} onBack={() => setSentTo(null)} onDone={done} />;
}

function AskForCode({ channelId, onSent }: { channelId: string; onSent: (address: string) => void }) {
  const t = useTranslations("settings.notifications");
  const announce = useAnnounce();
  const beginning = useBeginLink(channelId);
  const [address, setAddress] = useState("");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!address.trim() || beginning.isPending) return;
    const sent = (begun: { address: string }) => {
      announce(t("codeSent", { address: begun.address }));
      onSent(begun.address);
    };
    beginning.mutate(address.trim(), { onSuccess: sent });
  };
  const wrong = fieldMessage(beginning.error, "address");
  return (
    <form className={lists.form} onSubmit={send} noValidate>
      <Field
        label={t("address")}
        rule={t("addressRule")}
        wrong={wrong && t("wrongAddress", { message: wrong })}
        value={address}
        maxLength={LONGEST_ADDRESS}
        autoComplete="email"
        onChange={(event) => setAddress(event.target.value)}
      />
      {beginning.error && !wrong && <Trouble error={beginning.error} />}
      <Button type="submit" look="primary" aria-disabled={beginning.isPending || !address.trim()}>
        {t("sendCode")}
      </Button>
    </form>
  );
}

interface CodeProps {
  channelId: string;
  address: string;
  onBack: () => void;
  onDone: () => void;
}

function TypeCode({ channelId, address, onBack, onDone }: CodeProps) {
  const t = useTranslations("settings.notifications");
  const announce = useAnnounce();
  const finishing = useFinishLink(channelId);
  const [code, setCode] = useState("");
  const link = (event: FormEvent) => {
    event.preventDefault();
    if (!code.trim() || finishing.isPending) return;
    const linked = () => {
      announce(t("linkedNow", { address }));
      onDone();
    };
    finishing.mutate(code.trim(), { onSuccess: linked });
  };
  const wrong = fieldMessage(finishing.error, "code");
  return (
    <form className={lists.form} onSubmit={link} noValidate>
      <p>{t.rich("codeWhere", { address: () => <Revealed key="address" text={address} /> })}</p>
      <Field
        label={t("code")}
        wrong={wrong && t("wrongCode")}
        value={code}
        maxLength={LONGEST_CODE}
        autoComplete="one-time-code"
        autoFocus
        onChange={(event) => setCode(event.target.value)}
      />
      {finishing.error && !wrong && <Trouble error={finishing.error} />}
      <div className={lists.made}>
        <Button type="submit" look="primary" aria-disabled={finishing.isPending || !code.trim()}>
          {t("link")}
        </Button>
        <Button onClick={onBack}>{t("otherAddress")}</Button>
      </div>
    </form>
  );
}

export function Trouble({ error }: { error: Error }) {
  const t = useTranslations("settings.notifications");
  return (
    <p role="alert" className={lists.trouble}>
      {error instanceof RateLimited ? t("tooSoon") : t("failed", { message: error.message })}
    </p>
  );
}
