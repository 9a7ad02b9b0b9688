import { useQueries } from "@tanstack/react-query";
import type { InboxRequest } from "interlock-client/inbox";
import { get } from "@/api/transport";
import { useAgents } from "@/chat/threads";
import { type Running, runningOf } from "../model/running";
import { addressOf, requestKey } from "./use-request";

/** When what was approved runs; the rest of its pause is read for that. */
export function useRunning(request: InboxRequest): Running | null {
  const agents = useAgents();
  const others = request.siblings.filter((id) => id !== request.request_id);
  const read = useQueries({
    queries: others.map((id) => ({
      queryKey: requestKey(id),
      refetchOnMount: "always" as const,
      queryFn: ({ signal }: { signal: AbortSignal }) => get<InboxRequest>(addressOf(id), {}, signal),
    })),
  });
  const known = read.map(({ data, isFetching }) => (isFetching ? undefined : data));
  return runningOf(request, agents.data?.agents, known);
}
