import { useCallback, useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { useAnnounce } from "@/shell/announcer";

const SHOWN = 2_000;

/** Copies a text; `isCopied` holds for a moment. */
export function useCopy(): { isCopied: boolean; copy: (text: string) => Promise<void> } {
  const t = useTranslations("request.run");
  const announce = useAnnounce();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = useCallback(
    async (text: string) => {
      if (!(await copied(text))) return;
      setCopied(true);
      announce(t("copied"));
    },
    [announce, t],
  );
  return { isCopied, copy };
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

/** Browsers have no clipboard on pages that came without encryption from another machine. */
function copiedByHand(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "only-read-aloud";
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
