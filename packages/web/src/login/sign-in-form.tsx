import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { CredentialsForm } from "./credentials-form";
import type { Refusal } from "./refusal";
import { useRegistering, useSigningIn } from "./use-way";

interface Props {
  registration: boolean;
  /** There is no account yet: the first one is the admin's. */
  isFirst: boolean;
  /** Somebody came by a link that no longer holds. */
  isLinkUsed: boolean;
}

export function SignInForm({ registration, isFirst, isLinkUsed }: Props) {
  const [isRegistering, setRegistering] = useState(isFirst);
  const [came, setCame] = useState<Refusal | null>(isLinkUsed ? { type: "used" } : null);
  const swap = () => {
    setCame(null);
    setRegistering(!isRegistering);
  };
  if (isRegistering) {
    const made = (refusal: Refusal) => {
      setCame(refusal);
      setRegistering(false);
    };
    return <Register isFirst={isFirst} onMade={made} onSwap={swap} />;
  }
  return <SignIn first={came} onSwap={registration ? swap : null} />;
}

function SignIn({ first, onSwap }: { first: Refusal | null; onSwap: (() => void) | null }) {
  const t = useTranslations("login");
  const { onRefused, ...way } = useSigningIn();
  useEffect(() => onRefused(first), [first, onRefused]);
  return (
    <CredentialsForm title={t("signInTo")} act={t("signIn")} isNew={false} onRefused={onRefused} {...way}>
      {onSwap && (
        <Button look="quiet" onClick={onSwap}>
          {t("toRegister")}
        </Button>
      )}
    </CredentialsForm>
  );
}

interface RegisterProps {
  isFirst: boolean;
  onMade: (refusal: Refusal) => void;
  onSwap: () => void;
}

function Register({ isFirst, onMade, onSwap }: RegisterProps) {
  const t = useTranslations("login");
  const way = useRegistering(onMade);
  if (isFirst) {
    return <CredentialsForm title={t("first")} note={t("firstWhat")} act={t("firstAct")} isNew {...way} />;
  }
  return (
    <CredentialsForm title={t("register")} act={t("registerAct")} isNew {...way}>
      <Button look="quiet" onClick={onSwap}>
        {t("toSignIn")}
      </Button>
    </CredentialsForm>
  );
}
