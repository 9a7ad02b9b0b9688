/** The person's conversations, and the agents they may begin one with. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Agents, Conversation, Conversations } from "interlock-client/inbox";
import { segment } from "interlock-client/transport";
import type { Deleted } from "interlock-client/wire";
import { useLiveEvents } from "@/api/live-context";
import { get, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

export const THREADS = ["threads"] as const;
const PAGE = 50;

export function useThreads() {
  const client = useQueryClient();
  useLiveEvents((event) => {
    if (event.type !== "looking" && event.type !== "extended") void client.invalidateQueries({ queryKey: THREADS });
  });
  return useInfiniteQuery({
    queryKey: THREADS,
    queryFn: ({ pageParam, signal }) =>
      get<Conversations>("/api/v1/inbox/conversations", { page: pageParam, page_size: PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (pages.length * PAGE < last.total ? pages.length + 1 : undefined),
  });
}

/** One that moved from page to page meanwhile is listed once. */
export function listed(data: InfiniteData<Conversations> | undefined): Conversation[] {
  const found = new Map<string, Conversation>();
  for (const page of data?.pages ?? []) for (const one of page.conversations) found.set(one.conversation_id, one);
  return [...found.values()];
}

/** This one, where it is among those that are loaded. */
export function useThread(thread: string): Conversation | undefined {
  return listed(useThreads().data).find((one) => one.conversation_id === thread);
}

/** Those that one can talk in. */
export function talkable(threads: readonly Conversation[]): Conversation[] {
  return threads.filter((one) => !one.outside);
}

export function useDeleteThread() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (thread: string) => remove<Deleted>(`/api/sessions/${segment(thread)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: THREADS }),
  });
}

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => get<Agents>("/api/v1/agents", {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function addressOf(thread: string): string {
  return `/chat/${encodeURIComponent(thread)}`;
}

/** The thread that an address names. The router decodes some characters of it and leaves others. */
export function threadIn(pathname: string): string | null {
  const name = /^\/chat\/([^/]+)/.exec(pathname)?.[1];
  if (!name) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
