import type { ChannelEntry, ChannelKind } from "interlock-client/wire";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { fieldMessage } from "@/request/problems";
import lists from "../settings.module.css";
import { useRemoveChannel, useTestChannel } from "./api";

interface Props {
  channel: ChannelEntry;
  onDone: () => void;
  onClose: () => void;
}

/** To an address, or to all browsers of somebody. */
export function TestDialog({ channel, kind, onDone, onClose }: Props & { kind: ChannelKind }) {
  const t = useTranslations("settings.channels");
  const { username } = usePerson();
  const isBrowser = kind.linked_by === "browser";
  const testing = useTestChannel(channel.id);
  const [address, setAddress] = useState(isBrowser ? username : "");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (address.trim() && !testing.isPending) testing.mutate(address.trim(), { onSuccess: onDone });
  };
  const wrong = fieldMessage(testing.error, "address");
  return (
    <Dialog title={t("testTitle", { name: channel.name })} onClose={onClose}>
      <form className={lists.fields} onSubmit={send} noValidate>
        <Field
          label={t(isBrowser ? "testPerson" : "testAddress")}
          wrong={wrong && t("wrong", { message: wrong })}
          value={address}
          maxLength={254}
          autoComplete="off"
          onChange={(event) => setAddress(event.target.value)}
        />
        {testing.error && !wrong && (
          <p role="alert" className={lists.trouble}>
            {t("notTested", { message: testing.error.message })}
          </p>
        )}
        <div className={lists.actions}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" look="primary" aria-disabled={testing.isPending || !address.trim()}>
            {t("testDo")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function RemoveDialog({ channel, onDone, onClose }: Props) {
  const t = useTranslations("settings.channels");
  const removing = useRemoveChannel();
  return (
    <Dialog title={t("removeTitle", { name: channel.name })} onClose={onClose}>
      <p>{t("removeWhat")}</p>
      {removing.error && (
        <p role="alert" className={lists.trouble}>
          {t("notRemoved", { message: removing.error.message })}
        </p>
      )}
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button
          look="danger"
          disabled={removing.isPending}
          onClick={() => removing.mutate(channel.id, { onSuccess: onDone })}
        >
          {t("removeDo")}
        </Button>
      </div>
    </Dialog>
  );
}
