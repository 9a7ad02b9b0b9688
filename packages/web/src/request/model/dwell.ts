/** For how long something was before a person's eyes: the time in which the page was visible. */
export class Dwell {
  #total = 0;
  #since: number | null = null;

  show(now: number): void {
    this.#since ??= now;
  }

  hide(now: number): void {
    this.#total = this.at(now);
    this.#since = null;
  }

  at(now: number): number {
    return Math.round(this.#total + (this.#since === null ? 0 : now - this.#since));
  }
}
