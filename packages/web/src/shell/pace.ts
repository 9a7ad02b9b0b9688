/** How often something is done, however often it is asked for. */

type Timer = ReturnType<typeof setTimeout>;

/** Done at once, and then at most once in `milliseconds`: what was asked for meanwhile is done once, at the end. */
export class Pace {
  #timer: Timer | null = null;
  #isWanted = false;

  constructor(
    readonly milliseconds: number,
    readonly act: () => void,
  ) {}

  ask = (): void => {
    if (this.#timer !== null) {
      this.#isWanted = true;
      return;
    }
    this.#timer = setTimeout(this.#rested, this.milliseconds);
    this.act();
  };

  stop = (): void => {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isWanted = false;
  };

  #rested = (): void => {
    this.#timer = null;
    if (!this.#isWanted) return;
    this.#isWanted = false;
    this.ask();
  };
}

/** The first is told at once; what comes within `milliseconds` of it is told together. */
export class Bursts<T> {
  #waiting: T[] = [];
  readonly #pace: Pace;

  constructor(milliseconds: number, tell: (all: readonly T[]) => void) {
    this.#pace = new Pace(milliseconds, () => {
      const all = this.#waiting;
      this.#waiting = [];
      tell(all);
    });
  }

  add = (one: T): void => {
    this.#waiting.push(one);
    this.#pace.ask();
  };

  stop = (): void => {
    this.#pace.stop();
    this.#waiting = [];
  };
}
