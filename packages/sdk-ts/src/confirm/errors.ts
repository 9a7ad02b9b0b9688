/** What may go wrong on the confirmation socket. */
import { InterlockError } from "../errors.js";
import { type JsonObject, objectOf, textOf } from "../json.js";
import type { ServerEvent } from "../wire.js";

export interface ConfirmationErrorOptions {
  /** `timeout`, `invalid_step_id`, `session_not_found`, `network_error`, or another one that the server gave. */
  error_type: string;
  step_id?: string | undefined;
  timestamp?: string;
  details?: JsonObject;
  cause?: unknown;
}

/** As the server or the connection told it. */
export class ConfirmationError extends InterlockError {
  readonly error_type: string;
  readonly step_id: string | undefined;
  readonly timestamp: string;

  constructor(message: string, options: ConfirmationErrorOptions) {
    super(message, { code: options.error_type, details: options.details, cause: options.cause });
    this.error_type = options.error_type;
    this.step_id = options.step_id;
    this.timestamp = options.timestamp ?? new Date().toISOString();
  }

  get timeout_seconds(): number | undefined {
    const seconds = this.details.timeout_seconds;
    return typeof seconds === "number" ? seconds : undefined;
  }
}

/** Nobody decided in time; the tool did not run. */
export class ConfirmationTimeout extends ConfirmationError {}

/** A step that does not exist, or that is settled: then `details` has its `status`. */
export class InvalidStepId extends ConfirmationError {}

export class SessionNotFound extends ConfirmationError {}

/** The connection broke, or was never there. */
export class ConnectionLost extends ConfirmationError {}

type Kind = new (message: string, options: ConfirmationErrorOptions) => ConfirmationError;

const KINDS: Readonly<Record<string, Kind>> = {
  timeout: ConfirmationTimeout,
  invalid_step_id: InvalidStepId,
  session_not_found: SessionNotFound,
  network_error: ConnectionLost,
};
const OTHER_NAMES: Readonly<Record<string, string>> = { confirmation_timeout: "timeout" };

/** From an `agent.error` or a `system.error`. */
export function confirmationError(message: ServerEvent): ConfirmationError {
  const details = objectOf(message.metadata);
  const told = textOf(details.error_type, "error");
  const error_type = OTHER_NAMES[told] ?? told;
  const kind = KINDS[error_type] ?? ConfirmationError;
  const step_id = [details.step_id, details.received_step_id, message.step_id].find((one) => typeof one === "string");
  const timestamp = textOf(message.timestamp, new Date().toISOString());
  return new kind(textOf(message.content, error_type), { error_type, step_id: step_id as string, timestamp, details });
}

export function timedOut(stepId: string, milliseconds: number): ConfirmationTimeout {
  const details = { timeout_seconds: milliseconds / 1_000 };
  return new ConfirmationTimeout("User confirmation timeout", { error_type: "timeout", step_id: stepId, details });
}

export function connectionLost(message: string, cause?: unknown): ConnectionLost {
  return new ConnectionLost(message, { error_type: "network_error", cause });
}
