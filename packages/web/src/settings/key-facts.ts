/** Whether keys still hold, and until when new ones do. */
import type { KeyEntry } from "interlock-client/wire";

const DAY = 86_400_000;

/** Days; 0: until it is revoked. */
export const SPANS = [7, 30, 90, 365, 0] as const;
export type Span = (typeof SPANS)[number];

export function expiryAfter(days: Span, now: number): string | undefined {
  return days === 0 ? undefined : new Date(now + days * DAY).toISOString();
}

export function holds(key: KeyEntry, now: number): boolean {
  return key.revoked_at === null && (key.expires_at === null || Date.parse(key.expires_at) > now);
}
