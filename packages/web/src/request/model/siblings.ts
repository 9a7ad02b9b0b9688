import type { InboxRequest } from "interlock-client/inbox";

/** The request before (-1) or after (1) this one in its pause. */
export function siblingOf(request: Pick<InboxRequest, "request_id" | "siblings">, step: -1 | 1): string | null {
  const place = request.siblings.indexOf(request.request_id);
  return place < 0 ? null : (request.siblings[place + step] ?? null);
}

/** The first after this one in its pause, and then from the beginning, that is open. */
export function openAfter(
  { request_id, siblings }: Pick<InboxRequest, "request_id" | "siblings">,
  isOpen: (id: string) => boolean,
): string | null {
  const place = siblings.indexOf(request_id);
  const inOrder = [...siblings.slice(place + 1), ...siblings.slice(0, Math.max(place, 0))];
  return inOrder.find(isOpen) ?? null;
}
