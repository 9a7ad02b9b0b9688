import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { type Armed, LAPSE } from "./model/arming";
import { LateGuard } from "./model/guard";

const LOOKS = 100;

/** Whether what is pressed was meant for what stands here; `shown` is another text when something else is shown. */
export function useGuard(shown: string, bar: RefObject<HTMLElement | null>) {
  const guard = useRef<LateGuard>(null);
  guard.current ??= new LateGuard(performance.now());
  const look = useCallback(() => {
    const place = bar.current?.getBoundingClientRect();
    if (place) guard.current?.at({ top: place.bottom, left: place.left }, performance.now());
  }, [bar]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown has changed
  useEffect(() => guard.current?.changed(performance.now()), [shown]);
  useEffect(() => {
    const timer = setInterval(look, LOOKS);
    return () => clearInterval(timer);
  }, [look]);
  const isLate = useCallback(() => {
    look();
    return guard.current?.holds(performance.now()) ?? true;
  }, [look]);
  return { isLate };
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
