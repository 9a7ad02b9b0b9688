import type { InboxRequest } from "interlock-client/inbox";

/** The request before (-1) or after (1) this one in its pause. */
export function siblingOf(request: Pick<InboxRequest, "request_id" | "siblings">, step: -1 | 1): string | null {
  const place = request.siblings.indexOf(request.request_id);
  return place < 0 ? null : (request.siblings[place + step] ?? null);
}
