/** How long to go on trying while a server cannot be reached, and how long to pause between two tries. */
import { type InterlockError, RateLimited, ServerUnavailable } from "./errors.js";
import { sleep } from "./waiting.js";

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/** Over the tries of one call. `milliseconds` Infinity: it never ends. */
export class Patience {
  #since = performance.now();
  #tries = 0;

  constructor(readonly milliseconds: number) {}

  /** Wait before the next try; throws the error when there is to be none. */
  async pause(error: InterlockError, signal?: AbortSignal): Promise<void> {
    // Not all at once: a server that comes back is called by everybody who waited for it.
    const backOff = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#tries) * (0.5 + Math.random() / 2);
    const pause = Math.max(backOff, retryAfter(error) * 1_000);
    if (performance.now() - this.#since + pause > this.milliseconds) throw error;
    this.#tries += 1;
    await sleep(pause, signal);
  }

  /** It was reached: the next trouble is a new one. */
  renew(): void {
    this.#since = performance.now();
    this.#tries = 0;
  }
}

function retryAfter(error: InterlockError): number {
  return error instanceof RateLimited || error instanceof ServerUnavailable ? (error.retryAfter ?? 0) : 0;
}
