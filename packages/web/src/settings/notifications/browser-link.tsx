import type { OwnChannel } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { canSubscribe } from "@/api/push";
import { Button } from "@/design/button";
import { usePreferences } from "@/preferences/store";
import { useAnnounce } from "@/shell/announcer";
import lists from "../settings.module.css";
import { Blocked, useLinkBrowser } from "./api";
import { focusChannel } from "./focus";

/** Turns this browser on: nobody is asked for it before they click. */
export function BrowserLink({ channel }: { channel: OwnChannel }) {
  const t = useTranslations("settings.notifications");
  const announce = useAnnounce();
  const { push } = usePreferences();
  const linking = useLinkBrowser(channel);
  const turnOn = () => {
    const told = () => {
      announce(t("here"));
      focusChannel(channel.channel_id);
    };
    linking.mutate(undefined, { onSuccess: told });
  };
  if (!canSubscribe()) return <p className={lists.hint}>{t("unsupported")}</p>;
  if (Notification.permission === "denied" && !linking.error) return <p className={lists.hint}>{t("blocked")}</p>;
  if (channel.addresses.some((one) => one.id === push?.id && one.works))
    return <p className={lists.hint}>{t("here")}</p>;
  return (
    <>
      <p className={lists.hint}>{t("browserWhat")}</p>
      <p>
        <Button look="primary" aria-disabled={linking.isPending} onClick={turnOn}>
          {t("turnOn")}
        </Button>
      </p>
      {linking.error && (
        <p role="alert" className={lists.trouble}>
          {linking.error instanceof Blocked ? t("blocked") : t("notSubscribed", { message: linking.error.message })}
        </p>
      )}
    </>
  );
}
