/** What people manage of their own: keys, remembered permissions, saved values; and the audit trail. */
import { segment } from "../transport.js";
import type {
  AuditEntry,
  AuditPage,
  GrantEntry,
  GrantList,
  KeyEntry,
  KeyList,
  KeyMade,
  KeyRole,
  SavedEntry,
  SavedList,
} from "../wire.js";
import type { Abortable } from "./part.js";
import { Sessions } from "./sessions.js";

export interface ListOptions extends Abortable {
  /** For an admin: not only one's own. */
  everybody?: boolean;
}

export interface KeyOptions extends Abortable {
  role?: KeyRole;
  agent?: string;
  expiresAt?: Date;
}

export abstract class Managing extends Sessions {
  /** A key of the caller's own; `.key` is shown here and never again. An agent's key asks, and never answers. */
  async createKey(name: string, options: KeyOptions = {}): Promise<KeyMade> {
    const { role = "person", agent, expiresAt, signal } = options;
    const body = this.body({ name, role, agent, expires_at: expiresAt?.toISOString() });
    return this.fetched<KeyMade>({ method: "POST", path: "/api/v1/keys", body, signal });
  }

  async keys(options: ListOptions = {}): Promise<KeyEntry[]> {
    return (await this.#listed<KeyList>("/api/v1/keys", options)).keys;
  }

  async revokeKey(keyId: string, options: Abortable = {}): Promise<void> {
    await this.#ended(`/api/v1/keys/${segment(keyId)}`, options);
  }

  /** What is remembered, and answers later asks without a person. */
  async grants(options: ListOptions = {}): Promise<GrantEntry[]> {
    return (await this.#listed<GrantList>("/api/v1/grants", options)).grants;
  }

  async revokeGrant(grantId: string, options: Abortable = {}): Promise<void> {
    await this.#ended(`/api/v1/grants/${segment(grantId)}`, options);
  }

  /** The names of saved values, never the values. */
  async secrets(options: ListOptions = {}): Promise<SavedEntry[]> {
    return (await this.#listed<SavedList>("/api/v1/secrets", options)).secrets;
  }

  async deleteSecret(secretId: string, options: Abortable = {}): Promise<void> {
    await this.#ended(`/api/v1/secrets/${segment(secretId)}`, options);
  }

  /** The audit trail, the newest entry first. */
  async *audit(
    conversationId?: string,
    options: Abortable & { action?: string; pageSize?: number } = {},
  ): AsyncGenerator<AuditEntry> {
    const { action, pageSize = 50, signal } = options;
    let cursor: string | null = null;
    do {
      const query = { conversation_id: conversationId, action, limit: pageSize, cursor };
      const page: AuditPage = await this.got<AuditPage>("/api/v1/audit", query, signal);
      yield* page.entries;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  #listed<T>(path: string, { everybody = false, signal }: ListOptions): Promise<T> {
    return this.got<T>(path, { all: everybody }, signal);
  }

  async #ended(path: string, { signal }: Abortable): Promise<void> {
    await this.transport.fetch({ method: "DELETE", path, signal });
  }
}
