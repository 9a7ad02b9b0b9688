export type { Approval, Decision } from "./answers.js";
export { type ClientOptions, InterlockClient } from "./client.js";
export type { Caller } from "./confirm/address.js";
export {
  type ConfirmationConfig,
  type ConfirmationRequest,
  type ConfirmationResponse,
  DEFAULT_CONFIG,
} from "./confirm/confirmations.js";
export { ErrorHandlingConfirmationClient, type Level } from "./confirm/error-handling.js";
export {
  ConfirmationError,
  ConfirmationTimeout,
  ConnectionLost,
  InvalidStepId,
  SessionNotFound,
} from "./confirm/errors.js";
export { ConfirmationHandler, MyAgentConfirmationHandler } from "./confirm/handler.js";
export type { LinkOptions, Socket } from "./confirm/link.js";
export { WebConfirmationHandler, type WebOptions } from "./confirm/web.js";
export * from "./errors.js";
export {
  type AgentFailed,
  type ChatEvent,
  type End,
  type InboxEvent,
  type Interrupt,
  isAsked,
  isSettled,
  type OtherEvent,
  type Partial,
  type RequestAsked,
  type RequestEvent,
  type RequestSettled,
  type ToolEnd,
  type ToolStart,
} from "./events.js";
/** The models of the inbox's own routes. */
export type * as inbox from "./inbox.js";
export type { JsonObject } from "./json.js";
export type { ApprovalOptions, AskOptions, ClarificationOptions, DecisionOptions } from "./parts/asking.js";
export type { InboxFilter } from "./parts/inbox.js";
export type { KeyOptions, ListOptions } from "./parts/managing.js";
export type { Abortable } from "./parts/part.js";
export type { FollowOptions, PendingFilter } from "./parts/requests.js";
export type { AwayOptions, NoteOptions } from "./parts/teams.js";
export type { ResumeOptions, RunOptions } from "./parts/threads.js";
export { visible } from "./visible.js";
/** Every wire model, by its name. */
export type * as wire from "./wire.js";
export type {
  AgentResponse,
  PendingRequest,
  RequestObject,
  RequestType,
  Risk,
  SessionStatusResponse,
  ThreadStatus,
} from "./wire.js";
export { AgentEvents, ErrorTypes, SystemEvents, UserEvents } from "./wire.js";
