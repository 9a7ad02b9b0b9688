/** Channels, for admins: set up, tried and removed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { segment } from "interlock-client/transport";
import type {
  Channel,
  ChannelKinds,
  ChannelList,
  FailedNotices,
  NewChannel,
  RemovedChannel,
} from "interlock-client/wire";
import { callOnce, get, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";

const CHANNELS = ["settings", "channels"] as const;
const PATH = "/api/v1/channels";

export function useChannels() {
  return useQuery({ queryKey: CHANNELS, queryFn: ({ signal }) => get<ChannelList>(PATH, {}, signal) });
}

export function useKinds() {
  return useQuery({
    queryKey: [...CHANNELS, "kinds"],
    queryFn: ({ signal }) => get<ChannelKinds>(`${PATH}/kinds`, {}, signal),
  });
}

export function useFailed(id: string, isWanted: boolean) {
  return useQuery({
    queryKey: [...CHANNELS, id, "failed"],
    queryFn: ({ signal }) => get<FailedNotices>(`${PATH}/${segment(id)}/failed`, {}, signal),
    enabled: isWanted,
  });
}

function useReread() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["settings"] });
}

export function useAddChannel() {
  return useAct({
    mutationFn: (channel: NewChannel) => callOnce<Channel>({ method: "POST", path: PATH, body: { ...channel } }),
    onSuccess: useReread(),
    // What was typed as a password is not kept longer than the form is there.
    gcTime: 0,
  });
}

export function useRemoveChannel() {
  return useAct({
    mutationFn: (id: string) => remove<RemovedChannel>(`${PATH}/${segment(id)}`),
    onSuccess: useReread(),
  });
}

export function useTestChannel(id: string) {
  return useAct({
    mutationFn: (address: string) =>
      callOnce({ method: "POST", path: `${PATH}/${segment(id)}/test`, body: { address } }),
  });
}
