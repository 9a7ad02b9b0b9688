import { usePreferences } from "@/preferences/store";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** The key that does the same, where there are keys to press. */
export function useHints(): (key: string) => string | undefined {
  const { shortcuts } = usePreferences();
  const hasKeys = shortcuts && matchMedia("(hover: hover)").matches;
  return (key) => (hasKeys ? key.replace("⌘", IS_MAC ? "⌘" : "Ctrl ") : undefined);
}
