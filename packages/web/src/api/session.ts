/** Who is signed in. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { NotAuthenticated } from "interlock-client/errors";
import type { Present, SignedIn, SignedOut, Welcome } from "interlock-client/inbox";
import { setServerTime } from "./clock";
import { get, post, remove } from "./transport";

export const SESSION = ["session"] as const;

/** `null`: nobody is. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Present | null> => {
      try {
        const present = await get<Present>("/api/v1/session", {}, signal);
        setServerTime(present.server_time);
        return present;
      } catch (error) {
        if (error instanceof NotAuthenticated) return null;
        throw error;
      }
    },
  });
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
  return useMutation({
    mutationFn: ({ path, body }: { path: "/session" | "/session/once"; body: object }) =>
      post<SignedIn>(`/api/v1${path}`, body),
    onSuccess: () => client.invalidateQueries({ queryKey: SESSION }),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => remove<SignedOut>("/api/v1/session"),
    // Nothing of one person is left for the next.
    onSuccess: () => {
      sessionStorage.clear();
      // Told before the rest goes: who looks at it would not hear of it afterwards.
      client.setQueryData(SESSION, null);
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION[0] });
    },
  });
}
