/** What is confirmed and what is replied on the confirmation socket, and how a client of it is set up. */
import { InvalidInput } from "../errors.js";
import { type JsonObject, objectOf, textOf } from "../json.js";
import type { Confirmation, ServerEvent } from "../wire.js";

export interface ConfirmationRequest {
  stepId: string;
  message: string;
  toolName: string;
  toolDescription: string;
  toolArgs: Record<string, unknown>;
  /** `approval`, or what else is asked: `clarification`, `decision`, `env_var`, `questions`. */
  kind: string;
  /** The whole of what is asked, where it is no approval. */
  request: JsonObject;
  riskLevel: string;
}

export interface ConfirmationResponse {
  confirmed: boolean;
  reason?: string;
  userId?: string;
  /** `args`: run the tool with these instead; `response`: the answer to what is no approval. */
  metadata?: Record<string, unknown>;
}

export interface ConfirmationConfig {
  /** Milliseconds that this client waits for its person; the server has a deadline of its own. */
  confirmationTimeout: number;
  autoReconnect: boolean;
  /** Milliseconds. */
  reconnectInterval: number;
  maxReconnectAttempts: number;
  showDetailedErrors: boolean;
}

export const DEFAULT_CONFIG: Readonly<ConfirmationConfig> = {
  confirmationTimeout: 300_000,
  autoReconnect: true,
  reconnectInterval: 3_000,
  maxReconnectAttempts: 5,
  showDetailedErrors: true,
};

export function configOf(given: Partial<ConfirmationConfig> = {}): ConfirmationConfig {
  const unknown = Object.keys(given).filter((name) => !(name in DEFAULT_CONFIG));
  if (unknown.length > 0) {
    const known = Object.keys(DEFAULT_CONFIG).join(", ");
    throw new InvalidInput(`${unknown.join(", ")} is no setting of a confirmation client; known: ${known}`);
  }
  return { ...DEFAULT_CONFIG, ...given };
}

/** From an `agent.user_confirm`. */
export function requestOf(message: ServerEvent): ConfirmationRequest {
  const metadata = objectOf(message.metadata);
  return {
    stepId: textOf(message.step_id),
    message: textOf(message.content),
    toolName: textOf(metadata.tool_name),
    toolDescription: textOf(metadata.tool_description),
    toolArgs: objectOf(metadata.tool_args),
    kind: textOf(metadata.kind, "approval"),
    request: objectOf(metadata.request),
    riskLevel: textOf(metadata.risk_level, "medium"),
  };
}

/** The `content` of a `user.response`. */
export function contentOf(response: ConfirmationResponse): Confirmation {
  return {
    confirmed: response.confirmed,
    ...(response.reason ? { reason: response.reason } : {}),
    ...(response.userId ? { user_id: response.userId } : {}),
    ...(response.metadata ? { metadata: response.metadata } : {}),
  };
}

export function isHighRisk(request: ConfirmationRequest): boolean {
  return request.riskLevel === "high" || request.riskLevel === "critical";
}
