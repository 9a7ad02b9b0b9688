import { useTranslations } from "use-intl";
import { useEndWords } from "@/request/ended";
import { useMoment } from "@/request/moment";
import { type Call, type Progress, progressOf } from "./batch";
import styles from "./batch.module.css";

/** What became of one call, where it stands. */
export function BatchOutcome({ call, isTicked }: { call: Call; isTicked: boolean }) {
  const progress = progressOf(call);
  const words = useOutcomeWords(progress, isTicked);
  if (!words) return null;
  const look = progress.type === "done" ? styles.done : styles.told;
  return (
    <p className={look} role="status">
      {words}
    </p>
  );
}

function useOutcomeWords(progress: Progress, isTicked: boolean): string | null {
  const t = useTranslations("inbox.batch");
  const moment = useMoment();
  const endWords = useEndWords();
  switch (progress.type) {
    case "open":
      return isTicked ? null : t("outcome.waits");
    case "loading":
      return t("loading");
    case "failed":
      return t("failed", { message: progress.message });
    case "done":
      return t(`outcome.${progress.act}`, { time: moment(progress.at) });
    case "refused":
      return t("outcome.refused", { message: progress.message });
    case "settled":
    case "late":
      return `${endWords(progress.end)} ${t(`outcome.${progress.type}`)}`;
    default:
      return t(`outcome.${progress.type}`);
  }
}
