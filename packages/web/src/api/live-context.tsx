import { createContext, type ReactNode, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type Connection, Live, type LiveEvent } from "./live";

const Context = createContext<Live | null>(null);

interface Props {
  /** Nobody is signed in: there is nothing to hear until somebody is. */
  isEnded: boolean;
  onSignedOut: () => void;
  children: ReactNode;
}

/** Around everything that a signed-in person sees. */
export function LiveProvider({ isEnded, onSignedOut, children }: Props) {
  const [live] = useState(() => new Live(onSignedOut));
  useEffect(() => {
    if (isEnded) return;
    void live.open();
    return () => live.close();
  }, [live, isEnded]);
  return <Context.Provider value={live}>{children}</Context.Provider>;
}

export function useLive(): Live {
  const live = useContext(Context);
  if (!live) throw new Error("useLive needs a LiveProvider around it");
  return live;
}

export function useConnection(): Connection {
  const live = useLive();
  return useSyncExternalStore(live.watch, () => live.connection);
}

/**
 * Another value each time that there is reason to read what the stream then keeps true; `null` until it is open, or
 * known not to open: what was read sooner would have to be read again.
 */
export function useOpening(): number | null {
  const { state, openings } = useConnection();
  return state === "connecting" ? null : openings;
}

/** Called with each event; the newest `take` is the one that is called. */
export function useLiveEvents(take: (event: LiveEvent) => void): void {
  const live = useLive();
  const newest = useRef(take);
  useEffect(() => {
    newest.current = take;
  });
  useEffect(() => live.listen((event) => newest.current(event)), [live]);
}
