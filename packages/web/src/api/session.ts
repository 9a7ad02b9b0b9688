/** Who is signed in. */
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { NotAuthenticated } from "interlock-client/errors";
import type { Present, SignedIn, SignedOut, Welcome } from "interlock-client/inbox";
import { useEffect, useRef } from "react";
import { setServerTime } from "./clock";
import { setPresentPerson } from "./person";
import { keepBrowserOf, leaveBrowser } from "./push";
import { hearTabs, tellTabs } from "./tabs";
import { get, post, remove } from "./transport";
import { useAct } from "./use-act";

export const SESSION = ["session"] as const;

/** `null`: nobody is. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Present | null> => {
      const present = await readSession(signal);
      setPresentPerson(present?.user_id ?? null);
      if (present) keepStorageOf(present.user_id);
      if (present) keepBrowserOf(present.user_id);
      return present;
    },
  });
}

async function readSession(signal?: AbortSignal): Promise<Present | null> {
  try {
    const present = await get<Present>("/api/v1/session", {}, signal);
    setServerTime(present.server_time);
    return present;
  } catch (error) {
    if (error instanceof NotAuthenticated) return null;
    throw error;
  }
}

const OWNER = "interlock.person";

/** What a tab keeps outlives the session, for the one whose it is. */
function keepStorageOf(userId: string): void {
  try {
    if (sessionStorage.getItem(OWNER) !== userId) sessionStorage.clear();
    sessionStorage.setItem(OWNER, userId);
  } catch {
    // A browser that keeps nothing keeps nothing of anybody's.
  }
}

/** Nothing of one person is left for the next. */
export function forgetPerson(client: QueryClient, next: Present | null = null): void {
  sessionStorage.clear();
  setPresentPerson(next?.user_id ?? null);
  // Told before the rest goes: who looks at it would not hear of it afterwards.
  client.setQueryData(SESSION, next);
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION[0] });
}

/**
 * Another tab may have signed out, or somebody else in: this one shows nothing of `userId` from then on. `heard` tells
 * whether their session still holds.
 */
export function useSamePerson(userId: string | undefined, heard: (isSignedIn: boolean) => void): void {
  const client = useQueryClient();
  const newest = useRef(heard);
  useEffect(() => {
    newest.current = heard;
  });
  useEffect(() => {
    if (userId === undefined) return;
    const ask = async () => {
      const present = await readSession().catch(() => undefined);
      if (present === undefined) return;
      if (present && present.user_id !== userId) forgetPerson(client, present);
      else newest.current(present !== null);
    };
    const look = () => {
      if (document.visibilityState === "visible") void ask();
    };
    const stop = hearTabs((word) => (word === "left" ? forgetPerson(client) : void ask()));
    document.addEventListener("visibilitychange", look);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", look);
    };
  }, [client, userId]);
}

/** The person who is signed in, on pages that nobody else sees. */
export function usePerson(): Present {
  const { data } = useSession();
  if (!data) throw new Error("usePerson is for pages behind the sign-in");
  return data;
}

export function useWelcome() {
  return useQuery({
    queryKey: ["welcome"],
    queryFn: ({ signal }) => get<Welcome>("/api/v1/welcome", {}, signal),
  });
}

export function useSignIn() {
  const client = useQueryClient();
  return useAct({
    mutationFn: ({ path, body }: { path: "/session" | "/session/once"; body: object }) =>
      post<SignedIn>(`/api/v1${path}`, body),
    onSuccess: () => {
      tellTabs("came");
      return client.invalidateQueries({ queryKey: SESSION });
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useAct({
    mutationFn: async () => {
      await leaveBrowser();
      return await remove<SignedOut>("/api/v1/session");
    },
    onSuccess: ({ url }) => {
      forgetPerson(client);
      tellTabs("left");
      // Out of the provider too, where it has a place for that.
      if (url) location.assign(url);
    },
  });
}
