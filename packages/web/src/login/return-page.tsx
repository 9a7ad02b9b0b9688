import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Link, Redirect } from "wouter";
import { useWelcome } from "@/api/session";
import { useFinishSignOn } from "@/api/sign-on";
import { Mark } from "@/design/mark";
import { PageTitle } from "@/shell/page-title";
import styles from "./login.module.css";
import { nextOf, takeReturn } from "./place";
import { type Refusal, refusalOf } from "./refusal";
import { RefusalText } from "./refusal-text";
import { SignOnButton } from "./sign-on-button";

/** Where the provider of single sign-on sends a browser back to. Nothing in its address is shown. */
export function ReturnPage() {
  const t = useTranslations("login");
  const [given] = useState(takeReturn);
  const finish = useFinishSignOn();
  const [refusal, setRefusal] = useState<Refusal | null>(given ? null : { type: "signOn.expired" });
  const isSent = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it holds once, so it is sent once
  useEffect(() => {
    if (isSent.current || !given) return;
    isSent.current = true;
    finish.mutate(given, { onError: (error) => setRefusal(refusalOf(error, false, Date.now())) });
  }, []);
  if (finish.data) return <Redirect to={nextOf(`?next=${encodeURIComponent(finish.data.next)}`)} replace />;
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <p className={styles.brand}>
          <Mark size={24} /> Interlock
        </p>
        {refusal ? <Failed refusal={refusal} /> : <PageTitle name="return">{t("signOn.finishing")}</PageTitle>}
      </div>
    </main>
  );
}

function Failed({ refusal }: { refusal: Refusal }) {
  const t = useTranslations("login");
  const welcome = useWelcome();
  const provider = welcome.data?.sign_on;
  return (
    <div className={styles.form}>
      <PageTitle name="return-failed">{t("signOn.failed")}</PageTitle>
      <RefusalText id="return-refusal" refusal={refusal} isWaiting />
      {provider && <SignOnButton provider={provider} next="/inbox" isOnly={false} />}
      <Link to="/login">{t("signOn.back")}</Link>
    </div>
  );
}
