/** A confirmation handler that only keeps what it is told. */
import { WebSocket } from "ws";
import {
  type ConfirmationError,
  ConfirmationHandler,
  type ConfirmationRequest,
  type LinkOptions,
  type wire,
} from "../../src/index.js";

export class Recorder extends ConfirmationHandler {
  readonly asked: ConfirmationRequest[] = [];
  readonly overSteps: string[] = [];
  readonly errors: ConfirmationError[] = [];
  readonly events: wire.ServerEvent[] = [];
  readonly answers: string[] = [];

  constructor(wsUrl: string, options: LinkOptions = {}) {
    super(wsUrl, { WebSocket, locale: "en", ...options });
  }

  get isConnected(): boolean {
    return this.ws?.readyState === WebSocket.OPEN;
  }

  /** As a network does it. */
  drop(): void {
    (this.ws as unknown as WebSocket).terminate();
  }

  protected override onConfirmationRequested(request: ConfirmationRequest): void {
    this.asked.push(request);
  }

  protected override onConfirmationEnded(stepId: string): void {
    this.overSteps.push(stepId);
  }

  protected override onEvent(event: wire.ServerEvent): void {
    this.events.push(event);
  }

  protected override onFinalAnswer(answer: string): void {
    this.answers.push(answer);
  }

  protected override onError(error: ConfirmationError): void {
    this.errors.push(error);
  }
}
