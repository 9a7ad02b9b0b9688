import type { LinkedAddress, OwnChannel } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { usePreferences } from "@/preferences/store";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { useTest, useUnlink } from "./api";
import { focusChannel } from "./focus";
import styles from "./notifications.module.css";

export function AddressList({ channel }: { channel: OwnChannel }) {
  const t = useTranslations("settings.notifications");
  if (channel.addresses.length === 0) return <p className={lists.hint}>{t("nowhere")}</p>;
  return (
    <ul className={lists.list}>
      {channel.addresses.map((one) => (
        <Row key={one.id} address={one} channelId={channel.channel_id} />
      ))}
    </ul>
  );
}

interface Props {
  address: LinkedAddress;
  channelId: string;
}

function Row({ address, channelId }: Props) {
  const t = useTranslations("settings.notifications");
  const { push } = usePreferences();
  const day = useDay();
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <p className={lists.main}>
          <Revealed text={address.address} />
          {push?.id === address.id && <span className={lists.badge}>{t("thisBrowser")}</span>}
          {!address.works && <span className={lists.badge}>{t("gone")}</span>}
        </p>
        <p className={lists.facts}>
          <span>{t("linked", { time: day(address.linked_at) })}</span>
          {!address.works && <span>{t("goneWhat")}</span>}
        </p>
      </div>
      <Acts address={address} channelId={channelId} />
    </li>
  );
}

function Acts({ address, channelId }: Props) {
  const t = useTranslations("settings.notifications");
  const announce = useAnnounce();
  const testing = useTest();
  const unlinking = useUnlink();
  const failed = testing.error ?? unlinking.error;
  const of = (act: string) => ({ "aria-label": t("of", { act, address: address.address }), children: act });
  const unlink = () => {
    const unlinked = () => {
      announce(t("unlinked"));
      focusChannel(channelId);
    };
    unlinking.mutate(address.id, { onSuccess: unlinked });
  };
  return (
    <div className={styles.acts}>
      {address.works && (
        <Button
          {...of(t("test"))}
          aria-disabled={testing.isPending}
          onClick={() => testing.mutate(address.id, { onSuccess: () => announce(t("tested")) })}
        />
      )}
      <Button {...of(t("unlink"))} aria-disabled={unlinking.isPending} onClick={unlink} />
      {testing.isSuccess && <p className={styles.said}>{t("tested")}</p>}
      {failed && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: failed.message })}
        </p>
      )}
    </div>
  );
}
