/** Why nobody was signed in, so that it can be said what to do about it. */
import {
  Forbidden,
  InvalidInput,
  NetworkError,
  NotAuthenticated,
  RateLimited,
  ServerUnavailable,
} from "interlock-client/errors";

const REASONS = ["off", "unreachable", "refused", "denied", "expired", "closed"] as const;
type Reason = (typeof REASONS)[number];

export type Refusal =
  | {
      type:
        | "out"
        | "wrong"
        | "used"
        | "taken"
        | "closed"
        | "offline"
        | "username"
        | "password"
        | "repeat"
        | "registered"
        | "passwordsOff"
        | `signOn.${Reason}`;
    }
  /** `until`: by this machine's clock; so many `seconds` from when it was said. */
  | { type: "limited"; until: number; seconds: number }
  | { type: "other"; message: string };

const FIELDS: Readonly<Record<string, "username" | "password" | "taken">> = {
  "username form": "username",
  "username taken": "taken",
  "password length": "password",
};
/** Of a server that does not say when there is room again. */
const PAUSE = 10;

export function refusalOf(error: unknown, isLink: boolean, now: number): Refusal {
  if (error instanceof NotAuthenticated) return { type: isLink ? "used" : "wrong" };
  if (error instanceof RateLimited) return limited(error.retryAfter ?? PAUSE, now);
  if (error instanceof Forbidden) return forbidden(error);
  if (error instanceof NetworkError || error instanceof ServerUnavailable) return { type: "offline" };
  if (error instanceof InvalidInput) return ofInput(error);
  return { type: "other", message: error instanceof Error ? error.message : String(error) };
}

function forbidden({ code, details }: Forbidden): Refusal {
  if (code === "passwords_off") return { type: "passwordsOff" };
  if (code === "sign_on_failed") {
    const reason = REASONS.find((one) => one === details.reason) ?? "refused";
    return { type: `signOn.${reason}` };
  }
  return { type: code === "kept_out" ? "out" : "closed" };
}

function limited(seconds: number, now: number): Refusal {
  return { type: "limited", until: now + seconds * 1_000, seconds };
}

function ofInput(error: InvalidInput): Refusal {
  const [first] = error.errors;
  const type = first && FIELDS[`${first.field} ${first.code}`];
  return type ? { type } : { type: "other", message: error.message };
}

/** What can be seen before anything is sent. Names and passwords are the server's to judge. */
export function misfit(password: string, repeated: string | null): Refusal | null {
  return repeated !== null && password !== repeated ? { type: "repeat" } : null;
}
