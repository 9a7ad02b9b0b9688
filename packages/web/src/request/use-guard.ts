import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type Armed, LAPSE } from "./model/arming";
import { LateGuard } from "./model/guard";

const LOOKS = 100;

/**
 * Whether what is pressed was meant for what stands here; `state` is another text when something else is shown, or when
 * other controls stand where these stood.
 */
export function useGuard(state: string, bar: RefObject<HTMLElement | null>) {
  const guard = useRef<LateGuard>(null);
  guard.current ??= new LateGuard(performance.now());
  const look = useCallback(() => {
    const place = bar.current?.getBoundingClientRect();
    if (place) guard.current?.at({ top: place.bottom, left: place.left }, performance.now());
  }, [bar]);
  const changed = useCallback(() => guard.current?.changed(performance.now()), []);
  // With what is drawn, not a moment after it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: something else stands here now
  useLayoutEffect(changed, [state]);
  useComing(changed);
  useEffect(() => {
    const timer = setInterval(look, LOOKS);
    return () => clearInterval(timer);
  }, [look]);
  usePresses(useCallback((event) => guard.current?.pressed(pressedBy(event), performance.now()), []));
  const isLate = useCallback(
    (event: Event) => {
      look();
      return guard.current?.holds(performance.now(), pressedBy(event)) ?? true;
    },
    [look],
  );
  return { isLate };
}

/** Hammering is of one key, or of the pointer: who writes fast and then sends has paused with what sends. */
function pressedBy(event: Event): string {
  return event instanceof KeyboardEvent ? event.key.toLowerCase() : "pointer";
}

/** Before anything on the page hears of them. A click alone counts too: not everybody has a pointer. */
function usePresses(take: (event: Event) => void): void {
  useEffect(() => {
    const names = ["pointerdown", "click", "keydown"] as const;
    for (const name of names) addEventListener(name, take, { capture: true });
    return () => {
      for (const name of names) removeEventListener(name, take, { capture: true });
    };
  }, [take]);
}

/** The press that brings a window to the front was made before anybody could read what is in it. */
function useComing(come: () => void): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") come();
    };
    window.addEventListener("focus", come);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("focus", come);
      document.removeEventListener("visibilitychange", look);
    };
  }, [come]);
}

/** Armed until it lapses, or until anything changes. */
export function useArming(state: string) {
  const [armed, setArmed] = useState<{ at: Armed; state: string }>({ at: null, state });
  const at = armed.state === state ? armed.at : null;
  useEffect(() => {
    if (at === null) return;
    const timer = setTimeout(() => setArmed({ at: null, state }), LAPSE - (performance.now() - at));
    return () => clearTimeout(timer);
  }, [at, state]);
  const arm = useCallback((moment: Armed) => setArmed({ at: moment, state }), [state]);
  return { armedAt: at, arm };
}
