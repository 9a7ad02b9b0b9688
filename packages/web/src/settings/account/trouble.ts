/** Why a password was not changed, so that it can be said what to do about it. */
import { Conflict, InvalidInput, NetworkError, RateLimited, ServerUnavailable } from "interlock-client/errors";

export type Trouble =
  | { type: "wrong" | "length" | "same" | "repeat" | "changed" | "offline" }
  /** `until`: by this machine's clock. */
  | { type: "limited"; until: number; seconds: number }
  | { type: "other"; message: string };

const FIELDS: Readonly<Record<string, "wrong" | "length" | "same">> = {
  "old_password wrong": "wrong",
  "new_password length": "length",
  "new_password same": "same",
};
/** Of a server that does not say when there is room again. */
const PAUSE = 10;

export function troubleOf(error: unknown, now: number): Trouble {
  if (error instanceof RateLimited) {
    const seconds = error.retryAfter ?? PAUSE;
    return { type: "limited", until: now + seconds * 1_000, seconds };
  }
  if (error instanceof NetworkError || error instanceof ServerUnavailable) return { type: "offline" };
  if (error instanceof Conflict) return { type: "changed" };
  if (error instanceof InvalidInput) {
    const [first] = error.errors;
    const type = first && FIELDS[`${first.field} ${first.code}`];
    if (type) return { type };
  }
  return { type: "other", message: error instanceof Error ? error.message : String(error) };
}

/** The field that is to be filled in anew. */
export function fieldOf({ type }: Trouble): "old" | "new" | "repeat" {
  if (type === "length" || type === "same") return "new";
  return type === "repeat" ? "repeat" : "old";
}
