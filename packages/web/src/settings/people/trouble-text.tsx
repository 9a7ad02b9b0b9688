import { InterlockError, InvalidInput } from "interlock-client/errors";
import { useTranslations } from "use-intl";
import styles from "../settings.module.css";

/** Why nothing was changed. */
export function TroubleText({ error, name }: { error: Error | null; name: string }) {
  const t = useTranslations("settings.people");
  if (!error) return null;
  return (
    <p role="alert" className={styles.trouble}>
      {words(t, error, name)}
    </p>
  );
}

function words(t: ReturnType<typeof useTranslations<"settings.people">>, error: Error, name: string): string {
  if (error instanceof InterlockError && error.code === "last_admin") return t("lastAdmin", { name });
  const { message } = error;
  if (error instanceof InvalidInput && error.errors.some(({ field }) => field === "reviews"))
    return t("unknownAgents", { message });
  return t("failed", { message });
}
