import { Bell } from "lucide-react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { useNotify } from "./notifications";

/** The one way to notifications: nobody is asked for them. */
export function NotifyButton() {
  const t = useTranslations("shell.notify");
  const { state, enable } = useNotify();
  if (state !== "off") return <p className="quiet">{t(state)}</p>;
  return (
    <Button onClick={() => void enable()}>
      <Bell size={16} aria-hidden="true" /> {t("enable")}
    </Button>
  );
}
