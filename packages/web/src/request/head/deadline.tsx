import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { useMoment } from "../moment";
import { useReview } from "../review";
import styles from "./head.module.css";

/** What happens when nobody answers. */
export function Deadline() {
  const t = useTranslations("request.head.deadline");
  const moment = useMoment();
  const { request } = useReview();
  if (request.status !== "pending") return null;
  return <p className={styles.deadline}>{words()}</p>;

  function words() {
    if (!request.expires_at) return t("never");
    const time = moment(request.expires_at);
    if (request.at_deadline === "told") return t(request.kind === "approval" ? "told" : "toldAsk", { time });
    return t.rich("default", { time, default: () => <Default key="default" text={request.default ?? ""} /> });
  }
}

/** Written by the agent, so it stands on the agent's ground. */
function Default({ text }: { text: string }) {
  return (
    <span className={styles.default}>
      <Revealed text={text} />
    </span>
  );
}
