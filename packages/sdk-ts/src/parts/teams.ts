/** Teams: groups, who is away, and what people do with a request beside answering it. */
import type {
  Away,
  AwayTime,
  Claimed,
  Comment,
  Comments,
  FoundPeople,
  Group,
  Groups,
  InboxRequest,
  Votes,
  VoteWithdrawn,
} from "../inbox.js";
import { type Call, segment } from "../transport.js";
import type { PolicyExplanation } from "../wire.js";
import { Managing } from "./managing.js";
import type { Abortable } from "./part.js";

const GROUPS = "/api/v1/groups";
const AWAY = "/api/v1/away";

export interface AwayOptions extends Abortable {
  /** Now, unless it is named. */
  from?: Date;
  /** Who is asked in their place. */
  to?: string;
  /** For an admin: somebody else. */
  person?: string;
}

export interface NoteOptions extends Abortable {
  note?: string;
}

export abstract class Teams extends Managing {
  async groups(options: Abortable = {}): Promise<Group[]> {
    return (await this.got<Groups>(GROUPS, {}, options.signal)).groups;
  }

  /** Make a group; for admins, as changing and removing one. `Conflict` where there is one of this name. */
  async createGroup(name: string, members: string[] = [], { signal }: Abortable = {}): Promise<Group> {
    return this.fetched<Group>({ method: "POST", path: GROUPS, body: this.body({ name, members }), signal });
  }

  /** Have a group consist of these. Who is taken out does not count for what is open either. */
  async setGroup(name: string, members: string[], { signal }: Abortable = {}): Promise<Group> {
    const call = { method: "PUT", path: `${GROUPS}/${segment(name)}`, repeatable: true, signal } as const;
    return this.fetched<Group>({ ...call, body: this.body({ members }) });
  }

  /** What is put to it then waits for whoever asked, and for admins, to end it. */
  async removeGroup(name: string, { signal }: Abortable = {}): Promise<void> {
    await this.transport.fetch({ method: "DELETE", path: `${GROUPS}/${segment(name)}`, signal });
  }

  /** Names of people who may sign in, 20 at most. */
  async findPeople(query = "", { signal }: Abortable = {}): Promise<string[]> {
    return (await this.got<FoundPeople>("/api/v1/people/names", { q: query }, signal)).people;
  }

  /** When the caller is away; `null`: they are not, and will not be. */
  async away({ signal }: Abortable = {}): Promise<AwayTime | null> {
    return (await this.got<Away>(AWAY, {}, signal)).away;
  }

  /** Be away until then; what is put to the caller by name goes to `to` as well. No right is taken away. */
  async setAway(until: Date, options: AwayOptions = {}): Promise<AwayTime | null> {
    const { from = new Date(), to, person, signal } = options;
    const body = this.body({ from: from.toISOString(), until: until.toISOString(), to, person });
    return (await this.fetched<Away>({ method: "PUT", path: AWAY, body, repeatable: true, signal })).away;
  }

  async endAway({ person, signal }: Abortable & { person?: string } = {}): Promise<void> {
    await this.transport.fetch({ method: "DELETE", path: AWAY, query: { person }, repeatable: true, signal });
  }

  /** One request with everything that its page shows, and `people`: where it stands with them. */
  async inboxRequest(requestId: string, { signal }: Abortable = {}): Promise<InboxRequest> {
    return this.got<InboxRequest>(path(requestId), {}, signal);
  }

  /** Why it was put to people, or was not: what the policy said of it. */
  async explain(requestId: string, { signal }: Abortable = {}): Promise<PolicyExplanation> {
    return this.got<PolicyExplanation>(path(requestId, "explain"), {}, signal);
  }

  /**
   * Say "I have it", until the moment that is given back; again for longer, for an hour in all.
   *
   * It keeps nobody from answering, and holds off the next level. `Conflict` where somebody else has it.
   */
  async claim(requestId: string, options: Abortable = {}): Promise<string> {
    return (await this.fetched<Claimed>(this.#post(requestId, "claim", options))).until;
  }

  /** End one's claim. */
  async release(requestId: string, options: Abortable = {}): Promise<void> {
    await this.transport.fetch(this.#post(requestId, "release", options));
  }

  /** Pass one's place on to somebody who may be asked for it anyway. One says yes to it no more. */
  async delegate(requestId: string, to: string, { note = "", signal }: NoteOptions = {}): Promise<void> {
    await this.transport.fetch({ ...this.#post(requestId, "delegate", { signal }), body: this.body({ to, note }) });
  }

  /** Put it to more people, as `group:NAME` and `person:NAME`. For admins, who become no candidates by that. */
  async route(requestId: string, from: string[], { note = "", signal }: NoteOptions = {}): Promise<void> {
    await this.transport.fetch({ ...this.#post(requestId, "route", { signal }), body: this.body({ from, note }) });
  }

  /** Take one's yes back, which is possible until the end. What is counted then. */
  async withdrawVote(requestId: string, { signal }: Abortable = {}): Promise<Votes> {
    return (await this.fetched<VoteWithdrawn>({ method: "DELETE", path: path(requestId, "vote"), signal })).votes;
  }

  /** The oldest first. Who has a vote to give, and has not given it, reads their own only. */
  async comments(requestId: string, { signal }: Abortable = {}): Promise<Comment[]> {
    return (await this.got<Comments>(path(requestId, "comments"), {}, signal)).comments;
  }

  /** Say something to the others; no agent is sent it. */
  async comment(requestId: string, text: string, options: Abortable = {}): Promise<Comment> {
    return this.fetched<Comment>({ ...this.#post(requestId, "comments", options), body: this.body({ text }) });
  }

  #post(requestId: string, what: string, { signal }: Abortable): Call {
    return { method: "POST", path: path(requestId, what), body: this.body({}), signal };
  }
}

function path(requestId: string, what?: string): string {
  return ["/api/v1/inbox/requests", segment(requestId), ...(what ? [what] : [])].join("/");
}
