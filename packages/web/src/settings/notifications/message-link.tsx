import type { OwnChannel } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import lists from "../settings.module.css";
import { useAskForCode, useReread } from "./api";
import { Trouble } from "./code-link";

/** An account of a chat is proven by the code that comes from it. */
export function MessageLink({ channel }: { channel: OwnChannel }) {
  const t = useTranslations("settings.notifications");
  const asking = useAskForCode(channel.channel_id);
  const reread = useReread();
  const code = asking.data?.code;
  return (
    <>
      {code && (
        <p role="status">{t.rich("sendThere", { name: channel.name, code: () => <code key="code">{code}</code> })}</p>
      )}
      {asking.error && <Trouble error={asking.error} />}
      <p className={lists.made}>
        {code ? (
          <Button onClick={() => void reread()}>{t("sentThere")}</Button>
        ) : (
          <Button aria-disabled={asking.isPending} onClick={() => asking.mutate()}>
            {t(channel.addresses.length > 0 ? "anotherAccount" : "getCode")}
          </Button>
        )}
      </p>
    </>
  );
}
