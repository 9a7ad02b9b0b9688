import { useEffect } from "react";
import { usePreferences } from "@/preferences/store";

/** Light or dark, as chosen or as the machine has it. */
export function useTheme(): void {
  const { theme } = usePreferences();
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const show = () => {
      document.documentElement.dataset.theme = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
    };
    show();
    dark.addEventListener("change", show);
    return () => dark.removeEventListener("change", show);
  }, [theme]);
}
