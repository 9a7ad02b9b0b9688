import { InvalidInput, NotAuthenticated } from "interlock-client/errors";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useSignIn } from "@/api/session";
import { Failed } from "@/shell/failed";
import { PageTitle } from "@/shell/page-title";
import { type Credentials, CredentialsForm } from "./credentials-form";
import { dropToken } from "./place";
import { type Refusal, refusalOf } from "./refusal";

interface Props {
  token: string;
  hasAccounts: boolean;
  /** Whether the first account has one. */
  withPassword: boolean;
  onSignedIn: () => void;
  /** It does not hold. */
  onFailed: () => void;
}

/** The link that the server printed: it signs the admin in, or makes the first account. */
export function SignInLink(props: Props) {
  const [asksForAccount, setAsks] = useState(!props.hasAccounts);
  if (asksForAccount) return <FirstAccount {...props} />;
  return <Directly {...props} onMissing={() => setAsks(true)} />;
}

/** `onMissing`: there is no admin whom it could sign in. */
function Directly({ token, onSignedIn, onFailed, onMissing }: Props & { onMissing: () => void }) {
  const t = useTranslations("login");
  const signIn = useSignIn();
  const isSent = useRef(false);
  const send = () =>
    signIn.mutate(
      { path: "/session/once", body: { token } },
      {
        onSuccess: () => {
          dropToken();
          onSignedIn();
        },
        onError: (error) => {
          if (error instanceof InvalidInput) onMissing();
          if (!(error instanceof NotAuthenticated)) return;
          dropToken();
          onFailed();
        },
      },
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: it holds once, so it is sent once
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    send();
  }, []);
  if (signIn.isError) return <Failed error={signIn.error} onRetry={send} />;
  return <PageTitle name="by-link">{t("byLink")}</PageTitle>;
}

function FirstAccount({ token, withPassword, onSignedIn, onFailed }: Props) {
  const t = useTranslations("login");
  const signIn = useSignIn();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const send = (credentials: Credentials) => {
    setRefusal(null);
    const { username, password } = credentials;
    signIn.mutate(
      { path: "/session/once", body: withPassword ? { token, username, password } : { token, username } },
      {
        onSuccess: () => {
          dropToken();
          onSignedIn();
        },
        onError: (error) => {
          if (!(error instanceof NotAuthenticated)) return setRefusal(refusalOf(error, true, Date.now()));
          dropToken();
          onFailed();
        },
      },
    );
  };
  return (
    <CredentialsForm
      title={t("first")}
      note={t(withPassword ? "firstWhat" : "firstWithout")}
      act={t("firstAct")}
      isNew
      withPassword={withPassword}
      refusal={refusal}
      isSending={signIn.isPending}
      onSend={send}
      onRefused={setRefusal}
    />
  );
}
