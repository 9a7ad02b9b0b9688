/** Where somebody is told of requests, and when. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { segment } from "interlock-client/transport";
import type {
  LinkBegun,
  LinkedAddress,
  Notifications,
  OwnAddresses,
  OwnChannel,
  SetNotifications,
  UnlinkedAddress,
} from "interlock-client/wire";
import { subscribe, unsubscribe } from "@/api/push";
import { usePerson } from "@/api/session";
import { callOnce, get, post, remove } from "@/api/transport";
import { useAct } from "@/api/use-act";
import { prefer, preferences } from "@/preferences/store";

const ADDRESSES = ["settings", "addresses"] as const;
const WANTED = ["settings", "notifications"] as const;
const PATH = "/api/v1/me/addresses";

export class Blocked extends Error {}

export function useOwnChannels() {
  return useQuery({ queryKey: ADDRESSES, queryFn: ({ signal }) => get<OwnAddresses>(PATH, {}, signal) });
}

export function useWanted() {
  return useQuery({
    queryKey: WANTED,
    queryFn: ({ signal }) => get<Notifications>("/api/v1/me/notifications", {}, signal),
  });
}

export function useSetWanted() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (wanted: SetNotifications) =>
      callOnce<Notifications>({ method: "PUT", path: "/api/v1/me/notifications", body: { ...wanted } }),
    onSuccess: (set) => client.setQueryData(WANTED, set),
  });
}

export function useReread() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ADDRESSES });
}

export function useBeginLink(channelId: string) {
  return useAct({
    mutationFn: (address: string) => callOnce<LinkBegun>(posted(PATH, { channel_id: channelId, address })),
  });
}

/** The code is in the response where it is to come from the address, and not to it. */
export function useAskForCode(channelId: string) {
  return useAct({
    mutationFn: () =>
      callOnce<LinkBegun & { code?: string | null }>(posted(PATH, { channel_id: channelId, address: "" })),
  });
}

export function useFinishLink(channelId: string) {
  return useAct({
    mutationFn: (code: string) => callOnce<LinkedAddress>(posted(`${PATH}/confirm`, { channel_id: channelId, code })),
    onSuccess: useReread(),
  });
}

export function useLinkBrowser({ channel_id, key }: OwnChannel) {
  const { user_id } = usePerson();
  return useAct({
    mutationFn: async () => {
      if ((await Notification.requestPermission()) !== "granted") throw new Blocked();
      const linked = await post<LinkedAddress>(`${PATH}/browser`, { channel_id, ...(await subscribe(key ?? "")) });
      prefer({ push: { id: linked.id, person: user_id } });
      return linked;
    },
    onSuccess: useReread(),
  });
}

export function useUnlink() {
  return useAct({
    mutationFn: async (id: string) => {
      if (preferences().push?.id === id) await unsubscribe();
      return await remove<UnlinkedAddress>(`${PATH}/${segment(id)}`);
    },
    onSuccess: useReread(),
  });
}

export function useTest() {
  return useAct({ mutationFn: (id: string) => callOnce(posted(`${PATH}/${segment(id)}/test`, {})) });
}

function posted(path: string, body: object) {
  return { method: "POST", path, body: { ...body } } as const;
}
