/** Where a request stands with its people, and what of it this reader may do. Without terms all of it is as ever. */
import type { Claim, InboxRequest, Needs } from "interlock-client/inbox";

type WithPeople = Pick<InboxRequest, "people">;

export function mayAnswer({ people }: WithPeople): boolean {
  return people?.may_answer ?? true;
}

export function mayRefuse({ people }: WithPeople): boolean {
  return people?.may_refuse ?? true;
}

/** Who is asked sees what is asked, and not always what was said before. */
export function seesConversation({ people }: WithPeople): boolean {
  return people?.conversation ?? true;
}

/** With the answers only that would be taken of this reader. */
export function asOffered(request: InboxRequest): InboxRequest {
  const { people } = request;
  if (!people) return request;
  const allowed = request.allowed.filter((one) => one === "reject" || (people.may_answer && isTaken(request, one)));
  return {
    ...request,
    allowed,
    allow_remember: false,
    code: people.may_answer || people.may_override ? request.code : null,
  };
}

/** What several people decide is approved as it is, or refused. */
function isTaken({ people }: InboxRequest, decision: string): boolean {
  return !people?.votes || decision === "accept";
}

/** What is left out because people are named for it, as long as it could be answered otherwise. */
export function leftOut(request: InboxRequest): "several" | "remember" | null {
  const { people, allowed, allow_remember, status } = request;
  if (!people?.may_answer || status !== "pending" || request.kind !== "approval") return null;
  const isLess = allow_remember || allowed.includes("edit") || allowed.includes("response");
  if (people.votes) return isLess ? "several" : null;
  return allow_remember ? "remember" : null;
}

export type Bar = "asked" | "passedOn" | "askedOrPassedOn" | "named" | "others";

/** Why there is no yes of this reader's; null: there is, or nobody is named. */
export function barOf({ people, owner }: Pick<InboxRequest, "people" | "owner">, me: string): Bar | null {
  if (!people || people.may_answer) return null;
  const { needs, excluded } = people;
  if (needs.separate && owner === me) return "asked";
  if (excluded) return needs.separate ? "askedOrPassedOn" : "passedOn";
  return needs.candidates.length > 0 ? "named" : "others";
}

/** The names of whom it is put to, without what they are. */
export function whoOf({ candidates }: Pick<Needs, "candidates">): string {
  return candidates.map((one) => one.slice(one.indexOf(":") + 1)).join(", ");
}

/** A claim that is over is none: nothing has to happen for that. */
export function claimAt({ people }: WithPeople, now: number): Claim | null {
  const claim = people?.claim ?? null;
  return claim && Date.parse(claim.until) > now ? claim : null;
}

/** Whether others' names and comments are kept from the reader, so that everybody decides for themselves. */
export function isBlind({ people, status }: Pick<InboxRequest, "people" | "status">): boolean {
  return status === "pending" && !!people?.votes && people.own_vote === null;
}

/** Whether all places are filled and it is open still: what filled the last one was no yes, such as more people being asked. */
export function isFull({ people, status }: Pick<InboxRequest, "people" | "status">): boolean {
  return status === "pending" && !!people?.votes && people.votes.yes >= people.votes.needed;
}
