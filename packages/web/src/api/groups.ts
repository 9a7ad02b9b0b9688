/** The groups of people, which rules and requests name. */
import { useQuery } from "@tanstack/react-query";
import type { Group, Groups } from "interlock-client/inbox";
import { get } from "./transport";

export const GROUPS = ["groups"] as const;

export function useGroups(isWanted = true) {
  return useQuery({
    queryKey: GROUPS,
    enabled: isWanted,
    queryFn: async ({ signal }): Promise<Group[]> => (await get<Groups>("/api/v1/groups", {}, signal)).groups,
  });
}
