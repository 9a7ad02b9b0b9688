/** Waits that an `AbortSignal` ends. */

/** Wait so many milliseconds; throws the signal's reason when it is aborted before. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const ended = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", ended);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", ended, { once: true });
  });
}

/** What `work` comes to, unless the signal is aborted first: the work itself goes on. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const ended = () => reject(signal.reason);
    if (signal.aborted) ended();
    signal.addEventListener("abort", ended, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", ended));
  });
}

/** A signal that is aborted with the caller's, or after so much silence. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #milliseconds: number;
  readonly #followCaller = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSilent = false;

  /** `milliseconds` Infinity: silence is fine. */
  constructor(milliseconds: number, caller?: AbortSignal) {
    this.#milliseconds = milliseconds;
    this.#caller = caller;
    if (caller?.aborted) this.#followCaller();
    caller?.addEventListener("abort", this.#followCaller, { once: true });
    this.renew();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was the silence that ended it. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** A sign of life. */
  renew(): void {
    clearTimeout(this.#timer);
    if (this.#milliseconds === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      this.#isSilent = true;
      this.#controller.abort();
    }, this.#milliseconds);
  }

  /** Nothing is watched any more; what is still open is closed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#followCaller);
    this.#controller.abort();
  }
}
