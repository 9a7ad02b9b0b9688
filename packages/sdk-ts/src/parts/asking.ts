/** Asking a person from any program, and waiting for the answer. */
import { type Approval, approvalOf, type Decision } from "../answers.js";
import { Forbidden, NotAnswered, NotFound } from "../errors.js";
import { type JsonObject, textOf } from "../json.js";
import { Patience } from "../patience.js";
import { segment, spelledJson } from "../transport.js";
import { unlessAborted } from "../waiting.js";
import type { Cancelled, CollectedValues, RequestObject, RequestType, Risk } from "../wire.js";
import { type Abortable, HITL } from "./part.js";
import { Requests } from "./requests.js";

const DEFAULT_SECONDS = 300;
/** Seconds for which the server holds each look at a request that is pending. */
const HELD = 30;
const WITHDRAWING = 3_000;

export interface AskOptions extends Abortable {
  /** How long it may be answered; `null`: for as long as it takes. */
  timeoutSeconds?: number | null;
  conversationId?: string;
}

export interface ClarificationOptions extends AskOptions {
  options?: string[];
  /** `false`: only one of the options is taken. */
  allowCustom?: boolean;
  default?: string;
}

export interface DecisionOptions extends AskOptions {
  description?: string;
  risks?: string[];
  decisionType?: string;
  /** A key. */
  default?: string;
}

export interface ApprovalOptions extends AskOptions {
  description?: string;
  /** The server may put it higher, and finds one where none is said. */
  riskLevel?: Risk;
  allowRemember?: boolean;
  displayName?: string;
  allowed?: Approval["decision"][];
  /** A JSON Schema of the arguments: edits are held against it before they are taken. */
  toolSchema?: JsonObject;
  /** Arguments that nobody can change. */
  fixed?: string[];
}

export abstract class Asking extends Requests {
  #beginning: Promise<unknown> | undefined;

  /**
   * Ask, and wait until it is answered: the request, whose `response` is the answer.
   *
   * `NotAnswered` when it expired without a default, or was cancelled. It is asked once, whatever happens to the
   * connection or the server in between. Aborting the signal withdraws the request.
   */
  async ask(type: RequestType, requestData: JsonObject, options: AskOptions = {}): Promise<RequestObject> {
    const { signal } = options;
    signal?.throwIfAborted();
    const seconds = options.timeoutSeconds === undefined ? DEFAULT_SECONDS : options.timeoutSeconds;
    const until = seconds === null ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
    const gone = new AbortController();
    const body = { type, request_data: requestData, timeout_seconds: seconds };
    const placing = this.#place(body, options.conversationId, gone.signal);
    try {
      const placed = await unlessAborted(placing, signal);
      return await this.#settled(placed, until, signal);
    } catch (error) {
      if (signal?.aborted) void this.#withdraw(placing).finally(() => gone.abort());
      throw error;
    }
  }

  /** One question. */
  async askClarification(question: string, options: ClarificationOptions = {}): Promise<string> {
    const data = {
      question,
      options: options.options ?? [],
      allow_custom: options.allowCustom ?? true,
      default_answer: options.default,
    };
    return textOf((await this.#answer("clarification", data, options)).answer);
  }

  /** One of several options: texts, or `{ key, label, style }`. */
  async askDecision(title: string, offered: (string | JsonObject)[], options: DecisionOptions = {}): Promise<Decision> {
    const data = {
      title,
      options: offered,
      description: options.description ?? "",
      risks: options.risks ?? [],
      decision_type: options.decisionType ?? "custom",
      default: options.default,
    };
    const { decision, reason } = await this.#answer("decision", data, options);
    return { decision: textOf(decision), reason: textOf(reason) };
  }

  /**
   * Values by name: fields are names, or `{ name, label, required, sensitive, description }`.
   *
   * They are handed out once, and destroyed on the server with that.
   */
  async askEnvVars(
    fields: (string | JsonObject)[],
    options: AskOptions & { allowSave?: boolean } = {},
  ): Promise<Record<string, string>> {
    const settled = await this.ask("env_var", { fields, allow_save: options.allowSave ?? true }, options);
    // Sent twice, the second one finds nothing: it is never given to two.
    const path = `/requests/${segment(settled.request_id)}/collect`;
    return (await this.posted<CollectedValues>(path, this.body({}), options.signal)).values;
  }

  /** Several questions at once: texts, or `{ question, options }`. One answer for each. */
  async askQuestions(questions: (string | JsonObject)[], options: AskOptions = {}): Promise<string[]> {
    const { answers } = await this.#answer("clarification", { questions }, options);
    return Array.isArray(answers) ? answers.map(String) : [];
  }

  /** Whether a tool may run with these arguments. Run it with `.args` of what comes back, if `.granted`. */
  async askApproval(toolName: string, args: JsonObject, options: ApprovalOptions = {}): Promise<Approval> {
    // What changes the arguments meanwhile changes nothing of what was shown.
    const shown = JSON.parse(spelledJson(args)) as JsonObject;
    const data = {
      tool_name: toolName,
      args: shown,
      description: options.description ?? "",
      risk_level: options.riskLevel,
      allow_remember: options.allowRemember ?? true,
      allowed: options.allowed ?? ["accept", "edit", "reject", "response"],
      tool_display_name: options.displayName,
      tool_schema: options.toolSchema,
      fixed: options.fixed,
    };
    return approvalOf(await this.#answer("permission", data, options), shown);
  }

  async #answer(type: RequestType, data: JsonObject, options: AskOptions): Promise<JsonObject> {
    return (await this.ask(type, data, options)).response ?? {};
  }

  async #place(ask: JsonObject, conversationId: string | undefined, signal: AbortSignal): Promise<RequestObject> {
    // The first ask begins the conversation; those beside it wait for that, and go on in the same one.
    while (!conversationId && !this.conversationId && this.#beginning) await this.#beginning.catch(() => undefined);
    const where = conversationId ?? this.conversationId;
    if (where) return this.#post(ask, where, signal);
    const beginning = this.#post(ask, undefined, signal).then((placed) => {
      this.conversationId = placed.conversation_id;
      return placed;
    });
    this.#beginning = beginning;
    return beginning.finally(() => {
      this.#beginning = undefined;
    });
  }

  #post(ask: JsonObject, conversationId: string | undefined, signal: AbortSignal): Promise<RequestObject> {
    const more = this.body({ conversation_id: conversationId, agent: this.agent });
    return this.posted<RequestObject>("/requests", { ...ask, ...more }, signal);
  }

  async #settled(placed: RequestObject, until: number, signal: AbortSignal | undefined): Promise<RequestObject> {
    let request = placed;
    const path = `${HITL}/requests/${segment(request.request_id)}`;
    const look = { method: "GET", path, query: { wait: HELD }, repeatable: true, holds: HELD * 1_000, signal } as const;
    try {
      while (request.status === "pending") {
        const left = until + this.transport.patience - performance.now();
        request = await this.enveloped(look, new Patience(Math.max(left, this.transport.patience)));
      }
    } catch (error) {
      // Who asked may always look: there is nothing left to look at.
      if (!(error instanceof Forbidden || error instanceof NotFound)) throw error;
      throw new NotAnswered("deleted", request.request_id, error);
    }
    if (request.response === null) throw new NotAnswered(request.status, request.request_id);
    return request;
  }

  /** Best effort: whoever sees the request should not answer somebody who has gone. */
  async #withdraw(placing: Promise<RequestObject>): Promise<void> {
    const giveUp = AbortSignal.timeout(WITHDRAWING);
    try {
      const { request_id } = await unlessAborted(placing, giveUp);
      const body = this.body({ request_id, reason: "withdrawn: the asker no longer waits" });
      await this.posted<Cancelled>("/cancel", body, giveUp);
    } catch {
      // It is left to its deadline.
    }
  }
}
