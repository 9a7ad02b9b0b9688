/** A client of the confirmation socket: it is told what an agent does, and confirms its tools. */
import { isObject, parsed, textOf } from "../json.js";
import { AgentEvents, type ServerEvent, SystemEvents, type UserEvent, UserEvents } from "../wire.js";
import { type ConfirmationRequest, type ConfirmationResponse, contentOf, requestOf } from "./confirmations.js";
import {
  ConfirmationError,
  confirmationError,
  connectionLost,
  InvalidStepId,
  SessionNotFound,
  timedOut,
} from "./errors.js";
import { CONNECTING, ConfirmationLink } from "./link.js";

const LONGEST_TIMER = 2 ** 31 - 1;

/** There is no receipt for a reply: it is kept, and sent again if its step is asked again. */
interface Reply {
  request: ConfirmationRequest | undefined;
  message: UserEvent;
  isAgain: boolean;
}

interface AwaitedSession {
  /** The id of the session, where it is not to be a new one. */
  wanted: string | undefined;
  resolve(sessionId: string): void;
  reject(error: unknown): void;
}

/**
 * Implement `onConfirmationRequested`, and reply with `sendConfirmation`.
 *
 * A connection that breaks is opened again, and nothing is lost by it: what was missed is told, a reply that did not
 * arrive is sent again, and nobody is asked twice.
 */
export abstract class ConfirmationHandler extends ConfirmationLink {
  sessionId: string | null = null;
  /** How far the session's log was told. */
  lastSeq = 0;
  protected readonly pendingConfirmations = new Map<string, ConfirmationRequest>();
  readonly #replies = new Map<string, Reply>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #sessions = new Set<AwaitedSession>();

  /** A tool is to be confirmed, or something else is asked (`request.kind`). */
  protected abstract onConfirmationRequested(request: ConfirmationRequest): void | Promise<void>;

  /** A step needs no reply any more: it timed out, or somebody else was first. Close what shows it. */
  protected onConfirmationEnded(_stepId: string): void {}

  /** Every event, before it is acted upon. */
  protected onEvent(_event: ServerEvent): void {}

  /** The agent has ended its turn. */
  protected onFinalAnswer(_answer: string): void {}

  protected override onError(error: ConfirmationError): void {
    const detail = this.config.showDetailedErrors ? error.details : "";
    console.warn(`${error.error_type}: ${error.message}`, detail);
  }

  /** A new session, which everything is about from then on; its id. */
  async createSession(agent?: string, options: { batchSize?: number } = {}): Promise<string> {
    return this.#begin({ event: UserEvents.CREATE_SESSION, metadata: { agent, batch_size: options.batchSize } });
  }

  /** Go on with a session, as after a page was loaded anew: it tells what came after `lastSeq`, and asks what is pending. */
  async joinSession(sessionId: string, options: { lastSeq?: number; batchSize?: number } = {}): Promise<void> {
    const metadata = { last_seq: options.lastSeq, batch_size: options.batchSize };
    await this.#begin({ event: UserEvents.RECONNECT, session_id: sessionId, metadata });
  }

  /** Say something to the agent; without a session the server makes one first. */
  async sendMessage(text: string): Promise<void> {
    await this.send({ event: UserEvents.MESSAGE, session_id: this.sessionId, content: text });
  }

  /** Stop the agent, and cancel what is pending. */
  async cancel(): Promise<void> {
    await this.send({ event: UserEvents.CANCEL, session_id: this.sessionId });
  }

  /** Reply to a step, once. While the connection is being opened again the reply is kept, and sent then. */
  sendConfirmation(stepId: string, response: ConfirmationResponse): void {
    if (!this.sessionId) {
      throw new ConfirmationError("Session not established", { error_type: "session_not_found", step_id: stepId });
    }
    if (this.#replies.has(stepId)) {
      throw new InvalidStepId("the step was replied to before", { error_type: "invalid_step_id", step_id: stepId });
    }
    const where = { event: UserEvents.RESPONSE, session_id: this.sessionId, step_id: stepId };
    const message = { ...where, content: contentOf(response) };
    if (!this.sendNow(message) && !this.comesBack) throw connectionLost(`the reply to ${stepId} could not be sent`);
    this.#replies.set(stepId, { request: this.pendingConfirmations.get(stepId), message, isAgain: false });
    this.#forgetPending(stepId);
  }

  getPendingConfirmation(stepId: string): ConfirmationRequest | undefined {
    return this.pendingConfirmations.get(stepId);
  }

  getPendingConfirmations(): ConfirmationRequest[] {
    return [...this.pendingConfirmations.values()];
  }

  /** No reply is needed any more. */
  protected settle(stepId: string): void {
    if (this.#forgetPending(stepId)) this.onConfirmationEnded(stepId);
  }

  protected override greeting(): UserEvent | undefined {
    if (!this.sessionId) return undefined;
    return { event: UserEvents.RECONNECT, session_id: this.sessionId, metadata: { last_seq: this.lastSeq } };
  }

  protected override ended(error: unknown): void {
    for (const awaited of this.#sessions) awaited.reject(error);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  protected override received(raw: string): void {
    const message = parsed(raw);
    if (!isObject(message) || typeof message.event !== "string") return;
    const event = message as unknown as ServerEvent;
    if (typeof event.seq === "number" && event.session_id === this.sessionId) {
      this.lastSeq = Math.max(this.lastSeq, event.seq);
    }
    this.onEvent(event);
    this.#actions[event.event]?.(event);
  }

  readonly #actions: Readonly<Record<string, (event: ServerEvent) => void>> = {
    [AgentEvents.SESSION_CREATED]: (event) => this.#sessionCreated(event),
    [AgentEvents.USER_CONFIRM]: (event) => this.#asked(requestOf(event)),
    [AgentEvents.FINAL_ANSWER]: (event) => this.onFinalAnswer(textOf(event.content)),
    // With the id of a step: it was refused, maybe by somebody else.
    [AgentEvents.TOOL_RESULT]: (event) => this.settle(textOf(event.step_id)),
    [AgentEvents.SESSION_END]: (event) => this.#sessionEnded(event),
    [AgentEvents.ERROR]: (event) => this.#failed(confirmationError(event), event.session_id),
    [SystemEvents.ERROR]: (event) => this.#failed(confirmationError(event), event.session_id),
  };

  async #begin(message: UserEvent): Promise<string> {
    const socket = await this.connected();
    const begun = this.#nextSession(message.session_id ?? undefined);
    socket.send(JSON.stringify(message));
    return begun;
  }

  #nextSession(wanted: string | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.#sessions.delete(awaited);
        settle();
      };
      const awaited: AwaitedSession = {
        wanted,
        resolve: (sessionId) => done(() => resolve(sessionId)),
        reject: (error) => done(() => reject(error)),
      };
      const tooLong = () => awaited.reject(connectionLost("the server did not say that the session is there"));
      const timer = setTimeout(tooLong, CONNECTING);
      this.#sessions.add(awaited);
    });
  }

  #sessionCreated(event: ServerEvent): void {
    const sessionId = textOf(event.session_id);
    if (sessionId !== this.sessionId) {
      this.#forget();
      this.sessionId = sessionId;
      this.lastSeq = event.seq || 0;
    }
    const known = event.metadata?.reconnected ? sessionId : undefined;
    for (const awaited of this.#sessions) if (awaited.wanted === known) awaited.resolve(sessionId);
  }

  #asked(request: ConfirmationRequest): void {
    const reply = this.#replies.get(request.stepId);
    if (reply) {
      // It did not arrive, or crossed with this.
      reply.isAgain = true;
      this.sendNow(reply.message);
      return;
    }
    const isKnown = this.pendingConfirmations.has(request.stepId);
    this.pendingConfirmations.set(request.stepId, request);
    if (!isKnown) this.#confirm(request);
    else if (!this.#timers.has(request.stepId)) this.#limit(request.stepId);
  }

  #confirm(request: ConfirmationRequest): void {
    this.#limit(request.stepId);
    // Later, so that what fails in it fails here; and it may take as long as it likes.
    Promise.resolve()
      .then(() => this.onConfirmationRequested(request))
      .catch((error: unknown) => {
        const text = `${request.stepId} is still pending: its handler failed`;
        this.onError(
          new ConfirmationError(text, { error_type: "handler_failed", step_id: request.stepId, cause: error }),
        );
      });
  }

  #limit(stepId: string): void {
    const { confirmationTimeout } = this.config;
    if (confirmationTimeout > LONGEST_TIMER) return;
    const timer = setTimeout(() => {
      this.settle(stepId);
      this.onError(timedOut(stepId, confirmationTimeout));
    }, confirmationTimeout);
    this.#timers.set(stepId, timer);
  }

  #failed(error: ConfirmationError, sessionId: string | null): void {
    const reply = this.#replies.get(error.step_id ?? "");
    // The reply had arrived the first time.
    if (error instanceof InvalidStepId && reply?.isAgain) return;
    if (error.step_id !== undefined) this.#stepFailed(error.step_id, error, reply);
    else for (const awaited of this.#sessions) awaited.reject(error);
    if (error instanceof SessionNotFound && sessionId === this.sessionId) this.#leave();
    this.onError(error);
  }

  #stepFailed(stepId: string, error: ConfirmationError, reply: Reply | undefined): void {
    if (reply?.request && error.details.attempts_left) this.#notTaken(reply.request);
    else this.settle(stepId);
  }

  /** The reply was of a form that the server does not take: the step is still pending, and asked anew. */
  #notTaken(request: ConfirmationRequest): void {
    this.#replies.delete(request.stepId);
    this.pendingConfirmations.set(request.stepId, request);
    this.#confirm(request);
  }

  #sessionEnded(event: ServerEvent): void {
    if (event.session_id === this.sessionId) this.#leave();
  }

  #leave(): void {
    this.#forget();
    this.sessionId = null;
  }

  #forget(): void {
    for (const stepId of [...this.pendingConfirmations.keys()]) this.settle(stepId);
    this.#replies.clear();
  }

  #forgetPending(stepId: string): boolean {
    clearTimeout(this.#timers.get(stepId));
    this.#timers.delete(stepId);
    return this.pendingConfirmations.delete(stepId);
  }
}

export { ConfirmationHandler as MyAgentConfirmationHandler };
