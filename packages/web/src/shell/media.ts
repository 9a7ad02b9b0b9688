import { useCallback, useSyncExternalStore } from "react";

/** From this width on the list and the request stand side by side. */
export const SIDE_BY_SIDE = "(min-width: 1024px)";

/** Up to this width the pages are laid out for a phone. */
export const NARROW = "(max-width: 767px)";

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
