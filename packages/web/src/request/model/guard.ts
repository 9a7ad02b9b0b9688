/** What was pressed for something else that stood here a moment ago must not answer this. */
export const LATE = 500;

export interface Place {
  top: number;
  left: number;
}

export class LateGuard {
  #since: number;
  #place: Place | null = null;

  constructor(now: number) {
    this.#since = now;
  }

  /** What is asked appeared, or changed. */
  changed(now: number): void {
    this.#since = now;
  }

  /** Where the controls stand now; called often, and with every input. */
  at(place: Place, now: number): void {
    const before = this.#place;
    this.#place = place;
    if (before && (before.top !== place.top || before.left !== place.left)) this.#since = now;
  }

  holds(now: number): boolean {
    return now - this.#since < LATE;
  }
}
