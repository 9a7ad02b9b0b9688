import { useTranslations } from "use-intl";
import { fieldMessage, readsAsRefusal } from "../problems";
import { useReview } from "../review";
import styles from "./bar.module.css";

/** What the server said of an answer that it did not take. */
export function Problem() {
  const t = useTranslations("request.bar");
  const forms = useTranslations("request.forms.free");
  const { problem, isStale, delivery } = useReview();
  if (delivery?.state === "lost") return <Note>{t("lost")}</Note>;
  // That the file has changed is said where the new one can be shown.
  if (!problem || (isStale && problem.code === "file_changed")) return null;
  if (problem.code === "not_shown") return <Note>{t("notShown")}</Note>;
  const message = fieldMessage(problem, "code")
    ? t("obstacle.wrongCode")
    : readsAsRefusal(problem)
      ? forms("refusal")
      : problem.message;
  return <Note>{t("failed", { message })}</Note>;
}

function Note({ children }: { children: string }) {
  return (
    <p className={styles.problem} role="alert" tabIndex={-1} data-act="problem">
      {children}
    </p>
  );
}
