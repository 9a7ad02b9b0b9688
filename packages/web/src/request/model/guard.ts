/** What was pressed for something else that stood here a moment ago must not answer this. */
export const LATE = 500;
/** Who presses again and again does not read between: after so long without a press they may have. */
export const PAUSE = 700;

export interface Place {
  top: number;
  left: number;
}

export class LateGuard {
  #since: number;
  #place: Place | null = null;
  /** When each was pressed last: the pointer, or one key. */
  readonly #pressed = new Map<string, number>();
  /** Those that were let be for a while since this stands here. */
  readonly #calm = new Set<string>();

  constructor(now: number) {
    this.#since = now;
  }

  /** What is asked appeared, or changed. */
  changed(now: number): void {
    this.#since = now;
    this.#calm.clear();
  }

  /** Where the controls stand now; called often, and with every input. */
  at(place: Place, now: number): void {
    const before = this.#place;
    this.#place = place;
    if (before && (before.top !== place.top || before.left !== place.left)) this.changed(now);
  }

  /** Something was pressed, anywhere on the page. */
  pressed(what: string, now: number): void {
    if (now - Math.max(this.#since, this.#pressed.get(what) ?? 0) >= PAUSE) this.#calm.add(what);
    this.#pressed.set(what, now);
  }

  /** Whether a press is not taken yet; of what `what` is given, after a pause in such presses. */
  holds(now: number, what?: string): boolean {
    return now - this.#since < LATE || (what !== undefined && !this.#calm.has(what));
  }
}
