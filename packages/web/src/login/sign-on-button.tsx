import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useBeginSignOn } from "@/api/sign-on";
import { Button } from "@/design/button";
import { Revealed } from "@/text/revealed";
import styles from "./login.module.css";
import { type Refusal, refusalOf } from "./refusal";
import { RefusalText, useIsWaiting } from "./refusal-text";

interface Props {
  /** What the provider is called. */
  provider: string;
  /** Where to go afterwards. */
  next: string;
  /** What went wrong before. */
  first?: Refusal | null;
  /** There is no other way to sign in. */
  isOnly: boolean;
}

/** The way to the provider of single sign-on. */
export function SignOnButton({ provider, next, first = null, isOnly }: Props) {
  const t = useTranslations("login");
  const begin = useBeginSignOn();
  const [refusal, setRefusal] = useState<Refusal | null>(first);
  const isWaiting = useIsWaiting(refusal);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOnly) button.current?.focus();
  }, [isOnly]);
  const isLeaving = begin.isPending || begin.isSuccess;
  const go = () => {
    if (isLeaving || isWaiting) return;
    setRefusal(null);
    begin.mutate(next, { onError: (error) => setRefusal(refusalOf(error, false, Date.now())) });
  };
  return (
    <div className={styles.form}>
      <RefusalText id="sign-on-refusal" refusal={refusal} isWaiting={isWaiting} />
      <Button
        ref={button}
        look={isOnly ? "primary" : "plain"}
        onClick={go}
        aria-disabled={isLeaving || isWaiting}
        aria-describedby="sign-on-refusal"
      >
        <span>
          {isLeaving ? t("signingIn") : t.rich("signOn.act", { name: () => <Revealed key="name" text={provider} /> })}
        </span>
      </Button>
    </div>
  );
}
