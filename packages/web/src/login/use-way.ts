import { useState } from "react";
import { useSignIn } from "@/api/session";
import { post } from "@/api/transport";
import { useAct } from "@/api/use-act";
import type { Credentials } from "./credentials-form";
import { type Refusal, refusalOf } from "./refusal";

export interface Way {
  refusal: Refusal | null;
  isSending: boolean;
  onRefused: (refusal: Refusal | null) => void;
  onSend: (credentials: Credentials) => void;
}

export function useSigningIn(): Way {
  const signIn = useSignIn();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  return {
    refusal,
    isSending: signIn.isPending,
    onRefused: setRefusal,
    onSend: (credentials) => {
      setRefusal(null);
      signIn.mutate(
        { path: "/session", body: credentials },
        { onError: (error) => setRefusal(refusalOf(error, false, Date.now())) },
      );
    },
  };
}

/** Make an account, and sign in with it. `onMade`: it is there, but signing in has to be done by hand. */
export function useRegistering(onMade: (refusal: Refusal) => void): Way {
  const signIn = useSignIn();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const register = useAct({ mutationFn: (body: Credentials) => post("/api/auth/register", body) });
  const signInAfter = (credentials: Credentials) =>
    signIn.mutate({ path: "/session", body: credentials }, { onError: () => onMade({ type: "registered" }) });
  return {
    refusal,
    isSending: register.isPending || signIn.isPending,
    onRefused: setRefusal,
    onSend: (credentials) => {
      setRefusal(null);
      register.mutate(credentials, {
        onSuccess: () => signInAfter(credentials),
        onError: (error) => setRefusal(refusalOf(error, false, Date.now())),
      });
    },
  };
}
