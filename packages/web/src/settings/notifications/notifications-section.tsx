import type { OwnChannel } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { Read } from "../lists";
import lists from "../settings.module.css";
import { AddressList } from "./address-list";
import { useOwnChannels, useSetWanted, useWanted } from "./api";
import { BrowserLink } from "./browser-link";
import { CodeLink } from "./code-link";
import { headingOf } from "./focus";
import { MessageLink } from "./message-link";
import styles from "./notifications.module.css";
import { WantedForm } from "./wanted-form";

/** Where somebody is told of requests while no page is open, and when. */
export function NotificationsSection() {
  const t = useTranslations("settings.notifications");
  const own = useOwnChannels();
  const wanted = useWanted();
  return (
    <div className={styles.section}>
      <p className={lists.what}>{t("what")}</p>
      <Read query={own} none={t("none")} isEmpty={({ channels }) => channels.length === 0}>
        {({ channels }) => channels.map((one) => <OneChannel key={one.channel_id} channel={one} />)}
      </Read>
      <Read query={wanted} none="" isEmpty={() => false}>
        {(found) => <WantedForm wanted={found} />}
      </Read>
    </div>
  );
}

function OneChannel({ channel }: { channel: OwnChannel }) {
  const { addresses, linked_by } = channel;
  return (
    <section className={styles.channel} aria-labelledby={headingOf(channel.channel_id)}>
      <h2 id={headingOf(channel.channel_id)} tabIndex={-1}>
        <Revealed text={channel.name} />
      </h2>
      <AddressList channel={channel} />
      {addresses.length > 0 && <Wants channel={channel} />}
      {linked_by === "browser" && <BrowserLink channel={channel} />}
      {linked_by === "code" && <CodeLink channel={channel} />}
      {linked_by === "message" && <MessageLink channel={channel} />}
    </section>
  );
}

/** Whether they are told there at all. */
function Wants({ channel }: { channel: OwnChannel }) {
  const t = useTranslations("settings.notifications");
  const { data } = useWanted();
  const setting = useSetWanted();
  if (!data) return null;
  const id = channel.channel_id;
  const set = (isWanted: boolean) => {
    const others = data.off.filter((one) => one !== id);
    setting.mutate({ ...data, off: isWanted ? others : [...others, id] });
  };
  return (
    <>
      <label className={lists.check}>
        <input type="checkbox" checked={!data.off.includes(id)} onChange={(event) => set(event.target.checked)} />
        {t("wants")}
      </label>
      {setting.isError && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: setting.error.message })}
        </p>
      )}
    </>
  );
}
