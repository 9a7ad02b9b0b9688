import { useCallback, useSyncExternalStore } from "react";

/** From this width on the list and the request stand side by side. */
export const SIDE_BY_SIDE = "(min-width: 1024px)";

export function useMedia(query: string): boolean {
  const watch = useCallback(
    (told: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", told);
      return () => media.removeEventListener("change", told);
    },
    [query],
  );
  return useSyncExternalStore(watch, () => matchMedia(query).matches);
}
