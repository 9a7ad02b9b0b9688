import { useState } from "react";
import { useTranslations } from "use-intl";
import { Redirect, useSearch } from "wouter";
import { useSession, useWelcome } from "@/api/session";
import { Mark } from "@/design/mark";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { useFragment } from "@/shell/use-fragment";
import styles from "./login.module.css";
import { NoAccounts } from "./no-accounts";
import { nextOf, takeToken } from "./place";
import { SignInForm } from "./sign-in-form";
import { SignInLink } from "./sign-in-link";
import { SignOnButton } from "./sign-on-button";

export function LoginPage() {
  const token = useFragment(takeToken);
  return <WithLink key={token} token={token} />;
}

function WithLink({ token }: { token: string | null }) {
  const search = useSearch();
  const session = useSession();
  // A link is followed also by somebody who is signed in: it may be for another account.
  const [isUsed, setUsed] = useState(token === null);
  const isHere = Boolean(session.data) && (isUsed || session.data?.auth === "none");
  if (session.isPending && isUsed) return <Loading />;
  if (isHere) return <Redirect to={nextOf(search)} replace />;
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <p className={styles.brand}>
          <Mark size={24} /> Interlock
        </p>
        <Way token={token} next={nextOf(search)} onUsed={() => setUsed(true)} />
      </div>
    </main>
  );
}

/** How one signs in here. */
function Way({ token, next, onUsed }: { token: string | null; next: string; onUsed: () => void }) {
  const welcome = useWelcome();
  const [linkFailed, setLinkFailed] = useState(false);
  if (welcome.isPending) return <Loading />;
  if (welcome.isError) return <Failed error={welcome.error} onRetry={() => void welcome.refetch()} />;
  const { has_accounts: hasAccounts, registration, passwords, sign_on: provider } = welcome.data;
  if (token !== null && !linkFailed) {
    const failed = () => {
      setLinkFailed(true);
      onUsed();
    };
    return (
      <SignInLink
        token={token}
        hasAccounts={hasAccounts}
        withPassword={passwords}
        onSignedIn={onUsed}
        onFailed={failed}
      />
    );
  }
  if (!passwords) return <ProviderOnly provider={provider ?? ""} next={next} isLinkUsed={linkFailed} />;
  if (!hasAccounts && !registration && !provider) return <NoAccounts />;
  return (
    <>
      <SignInForm registration={registration} isFirst={!hasAccounts && registration} isLinkUsed={linkFailed} />
      {provider && (
        <div className={styles.other}>
          <SignOnButton provider={provider} next={next} isOnly={false} />
        </div>
      )}
    </>
  );
}

function ProviderOnly({ provider, next, isLinkUsed }: { provider: string; next: string; isLinkUsed: boolean }) {
  const t = useTranslations("login");
  return (
    <div className={styles.form}>
      <PageTitle name="provider">{t("signInTo")}</PageTitle>
      <SignOnButton provider={provider} next={next} first={isLinkUsed ? { type: "used" } : null} isOnly />
    </div>
  );
}
