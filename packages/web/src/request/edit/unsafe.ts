import type { InboxRequest } from "interlock-client/inbox";
import { unsafeNumbers } from "../model/json-lines";
import { jsonOf } from "../model/looks";

/** Numbers among the arguments that would be others once this page had sent them. */
export function unsafeIn(request: InboxRequest): string[] {
  return unsafeNumbers(jsonOf(request)).filter((number) => !isWhole(number));
}

/** The server takes 4200 for the 4200.0 that stood there before. */
function isWhole(number: string): boolean {
  return /^-?\d+\.0+$/.test(number) && Number.isSafeInteger(Number(number));
}
