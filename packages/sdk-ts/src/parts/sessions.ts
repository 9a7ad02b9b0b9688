/** The sessions face: one session for each user, and calls that wait for what comes of them. */
import { NotFound } from "../errors.js";
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

export abstract class Sessions extends Threads {
  /**
   * Send a query to the user's session, which is made if there is none, and wait until it is done or asks a person.
   *
   * It takes as long as the agent does. When the connection breaks the run goes on, and `sessionStatus` tells of it.
   */
  async invoke(
    userId: string,
    query: string,
    options: Abortable & { systemMessage?: string } = {},
  ): Promise<AgentResponse> {
    const body = { user_id: userId, query, system_message: options.systemMessage };
    return this.#waited("/agent/invoke", userId, body, options);
  }

  /** Reply to what the session waits for, and wait until it is done or asks again. */
  async resumeSession(
    userId: string,
    sessionId: string,
    responseType: ResponseType,
    args?: JsonObject,
    options: Abortable = {},
  ): Promise<AgentResponse> {
    const body = { user_id: userId, session_id: sessionId, response_type: responseType, args };
    return this.#waited("/agent/resume", userId, body, options);
  }

  /** Where the user's session stands, and what the last call came to. */
  async sessionStatus(userId: string, options: Abortable = {}): Promise<SessionStatusResponse> {
    return this.got<SessionStatusResponse>(`/agent/status/${segment(userId)}`, {}, options.signal);
  }

  /** Whose sessions there are; with accounts, who is not an admin sees their own only. */
  async systemInfo(options: Abortable = {}): Promise<SystemInfoResponse> {
    return this.got<SystemInfoResponse>("/system/info", {}, options.signal);
  }

  /** Delete the user's session for good: what runs is stopped, what is pending is cancelled. */
  async deleteSession(userId: string, options: Abortable = {}): Promise<SessionDeleted> {
    const path = `/agent/session/${segment(userId)}`;
    return this.fetched<SessionDeleted>({ method: "DELETE", path, signal: options.signal });
  }

  async #waited(path: string, userId: string, body: JsonObject, { signal }: Abortable): Promise<AgentResponse> {
    try {
      return await this.fetched({ method: "POST", path, body, holds: Number.POSITIVE_INFINITY, signal });
    } catch (error) {
      if (!isUnderWay(error)) throw error;
      return this.#outcome(userId, signal);
    }
  }

  /** What comes of a run that goes on by itself. */
  async #outcome(userId: string, signal: AbortSignal | undefined): Promise<AgentResponse> {
    for (;;) {
      const { status, last_response } = await this.sessionStatus(userId, { signal });
      if (status === "not_found") throw new NotFound("the session was deleted while it ran");
      if (status !== "running" && last_response) return last_response;
      await sleep(LOOKING_PAUSE, signal);
    }
  }
}
