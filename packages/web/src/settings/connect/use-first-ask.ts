import { useQuery } from "@tanstack/react-query";
import type { Inbox, InboxEntry } from "interlock-client/inbox";
import type { KeyList } from "interlock-client/wire";
import { useState } from "react";
import { useLiveEvents } from "@/api/live-context";
import { get } from "@/api/transport";

export interface Expected {
  agent: string;
  /** Null where the server takes no keys. */
  keyId: string | null;
  /** When its key was made, by the server's clock. */
  since: number;
}

/** What it asks first, once it has; null until then. */
export function useFirstAsk({ agent, keyId, since }: Expected): InboxEntry | null {
  const [heard, setHeard] = useState<InboxEntry | null>(null);
  const isIts = (entry: InboxEntry) => entry.outside && entry.agent === agent && Date.parse(entry.created_at) >= since;
  const query = useQuery({
    queryKey: ["first-ask", agent, keyId, since, heard?.request_id],
    queryFn: async ({ signal }) => {
      const used = await firstUse(keyId, since, signal);
      const { requests } = await get<Inbox>("/api/v1/inbox", { agent, limit: 50 }, signal);
      return used === null ? null : firstSince([...requests, ...(heard ? [heard] : [])].filter(isIts), used);
    },
  });
  useLiveEvents((event) => {
    if (query.data) return;
    // It may be answered before it is found in the list.
    if (event.type === "asked" && isIts(event.entry)) setHeard(event.entry);
    if (event.type === "hello" || event.type === "reset") void query.refetch();
  });
  return query.data ?? null;
}

/** When its key was used; null while it was not. Another key of the same agent may ask, too. */
async function firstUse(keyId: string | null, since: number, signal: AbortSignal): Promise<number | null> {
  if (keyId === null) return since;
  const { keys } = await get<KeyList>("/api/v1/keys", {}, signal);
  const used = keys.find((key) => key.id === keyId)?.last_used_at;
  return used ? Date.parse(used) : null;
}

/** The first from then on; else the last, as a use that was noted later tells nothing of what came before it. */
export function firstSince(entries: readonly InboxEntry[], used: number): InboxEntry | null {
  const sorted = [...entries].sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
  return sorted.find((entry) => Date.parse(entry.created_at) >= used) ?? sorted.at(-1) ?? null;
}
