/** The sessions face: one session for each user, and calls that wait for what comes of them. */
import { InvalidInput, NotFound } from "../errors.js";
import type { JsonObject } from "../json.js";
import { isUnderWay, segment } from "../transport.js";
import { sleep } from "../waiting.js";
import type {
  AgentResponse,
  ResponseType,
  SessionDeleted,
  SessionStatusResponse,
  SystemInfoResponse,
} from "../wire.js";
import type { Abortable } from "./part.js";
import { Threads } from "./threads.js";

const LOOKING_PAUSE = 500;

export interface SessionOptions extends Abortable {
  /** Whose session; the client's own `user` unless one is named. */
  user?: string;
}

export abstract class Sessions extends Threads {
  /**
   * Send a query to the user's session, which is made if there is none, and wait until it is done or asks a person.
   *
   * It takes as long as the agent does. When the connection breaks the run goes on, and `sessionStatus` tells of it.
   */
  async invoke(query: string, options: SessionOptions & { systemMessage?: string } = {}): Promise<AgentResponse> {
    const user_id = this.#user(options);
    const body = this.body({ user_id, query, system_message: options.systemMessage });
    return this.#waited("/agent/invoke", body, options);
  }

  /** Reply to what the session waits for, and wait until it is done or asks again. */
  async resumeSession(
    sessionId: string,
    responseType: ResponseType,
    args?: JsonObject,
    options: SessionOptions = {},
  ): Promise<AgentResponse> {
    const named = { user_id: this.#user(options), session_id: sessionId };
    return this.#waited("/agent/resume", this.body({ ...named, response_type: responseType, args }), options);
  }

  /** Where the user's session stands, and what the last call came to. */
  async sessionStatus(options: SessionOptions = {}): Promise<SessionStatusResponse> {
    return this.got<SessionStatusResponse>(`/agent/status/${segment(this.#user(options))}`, {}, options.signal);
  }

  /** How many sessions there are, and whose. */
  async systemInfo(options: Abortable = {}): Promise<SystemInfoResponse> {
    return this.got<SystemInfoResponse>("/system/info", {}, options.signal);
  }

  /** Delete the user's session for good: what runs is stopped, what is pending is cancelled. */
  async deleteSession(options: SessionOptions = {}): Promise<SessionDeleted> {
    const path = `/agent/session/${segment(this.#user(options))}`;
    return this.fetched<SessionDeleted>({ method: "DELETE", path, signal: options.signal });
  }

  async #waited(path: string, body: JsonObject, options: SessionOptions): Promise<AgentResponse> {
    const { signal } = options;
    try {
      return await this.fetched({ method: "POST", path, body, holds: Number.POSITIVE_INFINITY, signal });
    } catch (error) {
      if (!isUnderWay(error)) throw error;
      return this.#outcome(options);
    }
  }

  /** What comes of a run that goes on by itself. */
  async #outcome(options: SessionOptions): Promise<AgentResponse> {
    for (;;) {
      const { status, last_response } = await this.sessionStatus(options);
      if (status === "not_found") throw new NotFound("the session was deleted while it ran");
      if (status !== "running" && last_response) return last_response;
      await sleep(LOOKING_PAUSE, options.signal);
    }
  }

  #user(options: SessionOptions): string {
    const user = options.user ?? this.transport.user;
    if (!user) throw new InvalidInput("whose session? Name the user, here or when the client is made");
    return user;
  }
}
