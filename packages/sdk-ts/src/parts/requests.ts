/** Requests as people see them: what is pending, what became of it, and answering it. */
import { InvalidInput } from "../errors.js";
import { type RequestEvent, requestEvent } from "../events.js";
import { Follower, followed } from "../following.js";
import type { JsonObject } from "../json.js";
import { segment } from "../transport.js";
import type {
  Answered,
  Cancelled,
  PendingOfConversation,
  PendingPage,
  PendingRequest,
  RequestObject,
  RequestType,
  Risk,
  TicketMade,
} from "../wire.js";
import { InboxPart } from "./inbox.js";
import { type Abortable, HITL } from "./part.js";

const LONGEST_WAIT = 60;

export interface PendingFilter extends Abortable {
  type?: RequestType;
  agent?: string;
  risk?: Risk;
  /** Seconds that it has waited at least, and at most. */
  minAge?: number;
  maxAge?: number;
  pageSize?: number;
}

export interface FollowOptions extends Abortable {
  /** Everything since this event, in place of what is pending now. */
  lastEventId?: string;
}

export abstract class Requests extends InboxPart {
  /** What waits for a person: of one conversation, or everything that the caller may see, the oldest first. */
  async *pending(conversationId?: string, filter: PendingFilter = {}): AsyncGenerator<PendingRequest> {
    const { signal, pageSize = 50, minAge, maxAge, ...named } = filter;
    const wanted = { ...named, min_age: minAge, max_age: maxAge };
    if (conversationId === undefined) {
      yield* this.#allPending({ ...wanted, limit: pageSize }, signal);
      return;
    }
    if (Object.values(wanted).some((value) => value !== undefined)) {
      throw new InvalidInput("filters are for all conversations: leave conversationId out");
    }
    const path = `${HITL}/conversations/${segment(conversationId)}/pending`;
    const found = await this.enveloped<PendingOfConversation>({ method: "GET", path, repeatable: true, signal });
    yield* found.pending_requests;
  }

  /** One request, with its answer where it has one; held until it is settled, for `waitSeconds` (60) at most. */
  async request(requestId: string, options: Abortable & { waitSeconds?: number } = {}): Promise<RequestObject> {
    const wait = Math.min(Math.max(options.waitSeconds ?? 0, 0), LONGEST_WAIT);
    return this.enveloped<RequestObject>({
      method: "GET",
      path: `${HITL}/requests/${segment(requestId)}`,
      query: { wait },
      repeatable: true,
      holds: wait * 1_000,
      signal: options.signal,
    });
  }

  /**
   * Answer a request: `respond(id, { answer: "red" })`.
   *
   * `AlreadySettled` says who was first, `Expired` that nobody was; after `InvalidResponse` it is still pending.
   * Where more people have to say yes, its `status` is `pending`, and `votes` says how many have. With `overClaim: false`
   * it is a `Conflict` where somebody else has claimed it.
   */
  async respond(
    requestId: string,
    response: JsonObject,
    options: Abortable & { metadata?: JsonObject; overClaim?: boolean } = {},
  ): Promise<Answered> {
    const { metadata, overClaim } = options;
    const body = this.body({ request_id: requestId, response, metadata, over_claim: overClaim });
    return this.posted<Answered>("/respond", body, options.signal);
  }

  /** Cancel a request that is pending: the agent is told that nobody answered, and goes on. */
  async cancel(requestId: string, reason?: string, options: Abortable = {}): Promise<Cancelled> {
    return this.posted<Cancelled>("/cancel", this.body({ request_id: requestId, reason }), options.signal);
  }

  /**
   * What is asked and settled on a conversation, this client's own unless one is named.
   *
   * First what is pending now, or after `lastEventId` everything since. It resumes by itself, and ends when the
   * conversation is deleted.
   */
  follow(conversationId = this.conversationId, options: FollowOptions = {}): AsyncGenerator<RequestEvent> {
    const query = { conversation_id: named(conversationId) };
    const call = { method: "GET", path: "/api/v1/agent/stream", query, signal: options.signal } as const;
    return followed(new Follower(this.transport, call, options.lastEventId), requestEvent);
  }

  /**
   * An address for one `EventSource`, which cannot send a credential: with a ticket that holds once, for 30 seconds.
   * When it breaks, a new one is needed; `follow` does all that by itself.
   */
  async eventSourceUrl(conversationId = this.conversationId, options: Abortable = {}): Promise<string> {
    const query = { conversation_id: named(conversationId) };
    if (!this.transport.isSignedIn) return this.transport.url("/api/v1/agent/stream", query);
    const { ticket } = await this.createTicket(options);
    return this.transport.url("/api/v1/agent/stream", { ...query, ticket });
  }

  /** For `?ticket=` of one stream or socket, once. */
  async createTicket(options: Abortable = {}): Promise<TicketMade> {
    // One that got lost is never used.
    const call = { method: "POST", path: "/api/v1/tickets", repeatable: true, signal: options.signal } as const;
    return this.fetched<TicketMade>(call);
  }

  async *#allPending(query: JsonObject, signal: AbortSignal | undefined): AsyncGenerator<PendingRequest> {
    let cursor: string | null = null;
    do {
      const call = { method: "GET", path: `${HITL}/pending`, repeatable: true, signal } as const;
      const page: PendingPage = await this.enveloped<PendingPage>({ ...call, query: { ...query, cursor } });
      yield* page.pending_requests;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
}

function named(conversationId: string | undefined): string {
  if (conversationId) return conversationId;
  throw new InvalidInput("which conversation? This client has none of its own yet; followInbox() follows all");
}
