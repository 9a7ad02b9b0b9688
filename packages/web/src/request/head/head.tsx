import type { InboxRequest } from "interlock-client/inbox";
import { ArrowLeft } from "lucide-react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { PageTitle } from "@/shell/page-title";
import { doubtOf } from "../model/bodies";
import { namesIn } from "../names";
import { useReview } from "../review";
import { useAddresses } from "../use-addresses";
import { Countdown } from "./countdown";
import { Facts } from "./facts";
import styles from "./head.module.css";

/** What is asked, by whom, and for how long: all of it in our words. */
export function Head() {
  const t = useTranslations("request.head");
  const { request, embedded } = useReview();
  const { inbox } = useAddresses();
  return (
    <header className={styles.head}>
      <div className={styles.top}>
        {embedded ? (
          <h2 className={styles.embedded}>
            <Link href={`/requests/${request.request_id}`}>
              <Title request={request} />
            </Link>
          </h2>
        ) : (
          <div className={styles.title}>
            <Link href={inbox} className={styles.back} aria-label={t("back")}>
              <ArrowLeft aria-hidden="true" size={20} />
            </Link>
            <PageTitle name={request.request_id}>
              <Title request={request} />
            </PageTitle>
          </div>
        )}
        <Countdown />
      </div>
      <Facts />
    </header>
  );
}

function Title({ request }: { request: InboxRequest }) {
  const t = useTranslations("request.head");
  const names = namesIn(request);
  switch (request.kind) {
    case "approval":
      if (request.view.presentation?.markdown) return t.rich("plans", names);
      return t.rich(request.status === "pending" ? "wantsToRun" : "wantedToRun", names);
    case "decision":
      return doubtOf(request) ? t.rich("doubt", names) : t.rich("decides", names);
    case "env_var":
      return t.rich("needs", names);
    default:
      return t.rich("asks", names);
  }
}
