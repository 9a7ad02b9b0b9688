/** The inbox: everything that waits and that the caller may see, listed and followed. */
import { Forbidden, NotFound } from "../errors.js";
import { type InboxEvent, inboxEvents, newsOf, type Waiting } from "../events.js";
import { Follower } from "../following.js";
import type { Inbox, InboxEntry, InboxRequest, Kind, Risk } from "../inbox.js";
import { Patience } from "../patience.js";
import { type Call, segment } from "../transport.js";
import { type Abortable, Part } from "./part.js";

const INBOX = "/api/v1/inbox";
const PAGE = 200;

export interface InboxFilter extends Abortable {
  kind?: Kind;
  risk?: Risk;
  agent?: string;
  /** `me`, `group:NAME`, `claimed` (by the caller) or `all`. */
  forWhom?: string;
}

export abstract class InboxPart extends Part {
  /** Everything that waits and that the caller may see, the oldest first. */
  inbox(filter: InboxFilter = {}): AsyncGenerator<InboxEntry> {
    const { signal, forWhom, ...wanted } = filter;
    return this.#listed({ ...wanted, for: forWhom }, new Patience(this.transport.patience), signal);
  }

  /**
   * Everything that waits now, and from then on what is asked and what becomes of it, over all conversations.
   *
   * It connects again by itself, and then tells what it missed: each request that waits is told of once, and once how
   * it ended. It throws `NotAuthenticated` when the credential does not hold any more.
   */
  async *followInbox(options: Abortable = {}): AsyncGenerator<InboxEvent> {
    const waiting: Waiting = new Map();
    const call = { method: "GET", path: `${INBOX}/stream`, signal: options.signal } as const;
    for await (const frame of new Follower(this.transport, call, undefined, false).frames()) {
      // With these the stream is open, so nothing that happens from now on is missed: look at what happened before.
      if (frame.event === "hello" || frame.event === "reset") yield* this.#missed(waiting, options.signal);
      else yield* inboxEvents(frame, waiting);
    }
  }

  async *#missed(waiting: Waiting, signal: AbortSignal | undefined): AsyncGenerator<InboxEvent> {
    const patience = new Patience(Number.POSITIVE_INFINITY);
    const listed: Waiting = new Map();
    for await (const entry of this.#listed({}, patience, signal)) listed.set(entry.request_id, entry);
    yield* newsOf(listed, waiting);
    for (const [id, entry] of [...waiting]) {
      const event = listed.has(id) ? undefined : await this.#endOf(entry, patience, signal);
      if (!event) continue;
      waiting.delete(id);
      yield event;
    }
  }

  async #endOf(
    entry: InboxEntry,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<InboxEvent | undefined> {
    const path = `${INBOX}/requests/${segment(entry.request_id)}`;
    try {
      const call = { method: "GET", path, repeatable: true, signal } as const;
      const now = (await this.transport.fetch(call, patience)) as unknown as InboxRequest;
      if (now.status === "pending") return undefined;
      const { status, answered_by, answered_at, source, response: value, reason } = now;
      return { type: "settled", entry, status, answered_by, answered_at, source, value, reason };
    } catch (error) {
      if (error instanceof Forbidden || error instanceof NotFound) return { type: "gone", entry };
      throw error;
    }
  }

  async *#listed(
    wanted: Call["query"],
    patience: Patience,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<InboxEntry> {
    let cursor: string | null = null;
    do {
      const query: Call["query"] = { ...wanted, limit: PAGE, cursor };
      const call = { method: "GET", path: INBOX, query, repeatable: true, signal } as const;
      const page = (await this.transport.fetch(call, patience)) as unknown as Inbox;
      yield* page.requests;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
}
