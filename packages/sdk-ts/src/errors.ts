/**
 * Everything that a call may throw, as one shallow tree. `code` is stable; the text is for people.
 *
 *     InterlockError
 *     ├── InvalidInput           something that cannot be taken; `errors` names each field
 *     │   └── InvalidResponse    an answer or an ask that does not fit; what was pending still is
 *     ├── NotAuthenticated       no credential, or one that does not hold
 *     ├── Forbidden              not the caller's to see or to do
 *     ├── NotFound               no such thing
 *     ├── Conflict               the thing is in another state than the call needs
 *     │   ├── AlreadySettled     somebody was first: `answeredBy`, `answeredAt`, `source`, `answer`, `reason`
 *     │   │   └── Expired        its deadline was first
 *     │   ├── NothingPending     a thread that waits for nobody
 *     │   ├── ThreadBusy         a thread that runs or waits, and takes no new message
 *     │   └── KeyReused          an idempotency key that came before with another body
 *     ├── TooLarge               a body out of bounds
 *     ├── RateLimited            too much at once; `retryAfter` says when there is room again
 *     ├── ServerUnavailable      the server cannot do it now; nothing was changed
 *     ├── ServerFailed           the server failed, or what answered is no Interlock server
 *     ├── NetworkError           the server was not reached, or went away in the middle
 *     ├── NotAnswered            an ask that expired or was cancelled
 *     └── ConfirmationError      what went wrong on the confirmation socket (confirm/errors.ts)
 *
 * What a caller's own `AbortSignal` ends is thrown as the signal's reason, and is none of these.
 */
import { isObject, type JsonObject } from "./json.js";

export interface FieldError {
  field: string;
  code: string;
  message: string;
}

export interface ErrorOptions {
  code?: string;
  /** Of the HTTP response, where there was one. */
  status?: number;
  details?: JsonObject;
  cause?: unknown;
}

export class InterlockError extends Error {
  static readonly defaultCode: string = "error";
  readonly code: string;
  readonly status: number | undefined;
  readonly details: JsonObject;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code ?? new.target.defaultCode;
    this.status = options.status;
    this.details = options.details ?? {};
  }
}

export class InvalidInput extends InterlockError {
  static override readonly defaultCode: string = "invalid_input";

  get errors(): FieldError[] {
    const listed: unknown[] = Array.isArray(this.details.errors) ? this.details.errors : [];
    return listed.filter(isObject).map((one) => ({
      field: String(one.field ?? ""),
      code: String(one.code ?? ""),
      message: String(one.message ?? ""),
    }));
  }
}

export class InvalidResponse extends InvalidInput {
  static override readonly defaultCode = "invalid_answer";
}

export class NotAuthenticated extends InterlockError {
  static override readonly defaultCode = "not_authenticated";
}

export class Forbidden extends InterlockError {
  static override readonly defaultCode = "forbidden";
}

export class NotFound extends InterlockError {
  static override readonly defaultCode = "not_found";
}

export class Conflict extends InterlockError {
  static override readonly defaultCode: string = "conflict";
}

abstract class CameSecond extends Conflict {
  get answeredBy(): string | undefined {
    return textOf(this.details.answered_by);
  }

  get answeredAt(): string | undefined {
    return textOf(this.details.answered_at);
  }

  /** The face that it came through, or what gave it without one: `grant`, `saved`, `deadline`, `server`. */
  get source(): string | undefined {
    return textOf(this.details.source);
  }

  /** What was answered, secret values as `***`; undefined where it ended without an answer. */
  get answer(): JsonObject | undefined {
    return isObject(this.details.answer) ? this.details.answer : undefined;
  }

  /** Why it ended, where somebody said so. */
  get reason(): string | undefined {
    return textOf(this.details.reason);
  }
}

export class AlreadySettled extends CameSecond {
  static override readonly defaultCode: string = "already_settled";
}

export class Expired extends AlreadySettled {
  static override readonly defaultCode = "expired";
}

export class NothingPending extends CameSecond {
  static override readonly defaultCode = "nothing_pending";
}

export class ThreadBusy extends Conflict {
  static override readonly defaultCode = "thread_busy";

  /** What the thread waits for. */
  get pending(): JsonObject[] {
    return Array.isArray(this.details.pending) ? this.details.pending.filter(isObject) : [];
  }
}

export class KeyReused extends Conflict {
  static override readonly defaultCode = "key_reused";
}

export class TooLarge extends InterlockError {
  static override readonly defaultCode = "too_large";
}

export class RateLimited extends InterlockError {
  static override readonly defaultCode = "rate_limited";

  /** Seconds. */
  get retryAfter(): number | undefined {
    return numberOf(this.details.retry_after);
  }
}

export class ServerUnavailable extends InterlockError {
  static override readonly defaultCode = "unavailable";

  /** Seconds. */
  get retryAfter(): number | undefined {
    return numberOf(this.details.retry_after);
  }
}

export class ServerFailed extends InterlockError {
  static override readonly defaultCode = "server_failed";
}

export class NetworkError extends InterlockError {
  static override readonly defaultCode = "network_error";

  /** Whether the server may have got the request. */
  get sent(): boolean {
    return this.details.sent !== false;
  }
}

/** Nobody answered, and the ask named no default. */
export class NotAnswered extends InterlockError {
  static override readonly defaultCode = "not_answered";

  constructor(
    /** `expired`, `cancelled` or `deleted`. */
    readonly reason: string,
    readonly requestId: string,
    cause?: unknown,
  ) {
    super(`${requestId} was not answered: ${reason}`, { details: { request_id: requestId }, cause });
  }
}

type Kind = new (message: string, options?: ErrorOptions) => InterlockError;

/** By the codes of the hitl face and of all others. */
export const ERRORS: Readonly<Record<string, Kind>> = {
  HITL_INVALID_RESPONSE: InvalidResponse,
  HITL_UNAUTHORIZED: NotAuthenticated,
  HITL_FORBIDDEN: Forbidden,
  HITL_REQUEST_NOT_FOUND: NotFound,
  HITL_NOT_FOUND: NotFound,
  HITL_METHOD_NOT_ALLOWED: NotFound,
  HITL_REQUEST_NOT_PENDING: AlreadySettled,
  HITL_REQUEST_EXPIRED: Expired,
  HITL_CONFLICT: Conflict,
  HITL_IDEMPOTENCY_CONFLICT: KeyReused,
  HITL_TOO_LARGE: TooLarge,
  HITL_RATE_LIMITED: RateLimited,
  HITL_UNAVAILABLE: ServerUnavailable,
  HITL_ACTOR_ERROR: ServerUnavailable,
  HITL_INTERNAL: ServerFailed,
  invalid_input: InvalidInput,
  invalid_answer: InvalidResponse,
  wrong_session: InvalidInput,
  not_authenticated: NotAuthenticated,
  forbidden: Forbidden,
  not_found: NotFound,
  conflict: Conflict,
  already_settled: AlreadySettled,
  nothing_pending: NothingPending,
  not_shown: Conflict,
  taken_over: Conflict,
  thread_busy: ThreadBusy,
  key_reused: KeyReused,
  last_admin: Conflict,
  kept_out: Forbidden,
  not_eligible: Forbidden,
  passwords_off: Forbidden,
  sign_on_failed: Forbidden,
  claimed: Conflict,
  rate_limited: RateLimited,
  too_many_open: RateLimited,
  storage_unavailable: ServerUnavailable,
  no_worker: ServerUnavailable,
  undeliverable: ServerFailed,
  unreadable: ServerFailed,
  lease_lost: ServerFailed,
  illegal_transition: ServerFailed,
  error: ServerFailed,
};

/** For what names no code: most faces give none where the status says all, and what stands between may speak too. */
const STATUSES: Readonly<Record<number, Kind>> = {
  400: InvalidInput,
  401: NotAuthenticated,
  403: Forbidden,
  404: NotFound,
  405: NotFound,
  409: Conflict,
  413: TooLarge,
  422: InvalidInput,
  429: RateLimited,
  502: ServerUnavailable,
  503: ServerUnavailable,
  504: ServerUnavailable,
};

/** What an HTTP response with an error says, in either of the two dialects. */
export function errorOf(status: number, body: unknown, retryAfter?: number): InterlockError {
  const { code, message, details } = read(body);
  let kind = (code === undefined ? undefined : ERRORS[code]) ?? STATUSES[status] ?? ServerFailed;
  if (kind === AlreadySettled && details.current_status === "expired") kind = Expired;
  const more = retryAfter === undefined ? details : { ...details, retry_after: retryAfter };
  return new kind(message || `the server answered ${status}`, { code, status, details: more });
}

interface Told {
  code: string | undefined;
  message: string;
  details: JsonObject;
}

function read(body: unknown): Told {
  if (!isObject(body)) return { code: undefined, message: "", details: {} };
  if (isObject(body.error)) {
    const { code, message, details } = body.error;
    return { code: textOf(code), message: textOf(message) ?? "", details: isObject(details) ? details : {} };
  }
  const { detail, code, ...details } = body;
  if (!Array.isArray(detail)) return { code: textOf(code), message: textOf(detail) ?? "", details };
  const errors = detail.map(malformed);
  const message = errors.map((one) => `${one.field}: ${one.message}`).join("; ");
  return { code: textOf(code), message, details: { ...details, errors } };
}

function malformed(one: unknown): FieldError {
  const given = isObject(one) ? one : {};
  const place = Array.isArray(given.loc) ? given.loc.map(String) : [];
  const field = (place.length > 1 ? place.slice(1) : place).join(".") || "body";
  return { field, code: String(given.type ?? ""), message: String(given.msg ?? "") };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
