/** Approving by keys takes two strokes: the first arms, and a later one says yes. */
export const EARLIEST = 400;
export const LAPSE = 10_000;

/** When it was armed; null: it is not. */
export type Armed = number | null;

export interface Stroke {
  armed: Armed;
  approves: boolean;
}

export function stroke(armed: Armed, now: number): Stroke {
  if (armed === null || now - armed >= LAPSE) return { armed: now, approves: false };
  // The same finger, still on its way up.
  if (now - armed < EARLIEST) return { armed, approves: false };
  return { armed: null, approves: true };
}
