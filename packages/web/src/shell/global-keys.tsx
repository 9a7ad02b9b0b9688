import { useLocation } from "wouter";
import { useKeys } from "@/keys/use-keys";
import { HelpDialog } from "./help-dialog";

const SEARCH = "main input[type=search]";

/** The keys that work on every page, and the help that lists all of them. */
export function GlobalKeys({ isHelpOpen, onHelp }: { isHelpOpen: boolean; onHelp: (isOpen: boolean) => void }) {
  const [, navigate] = useLocation();
  const search = useSearchKey();
  useKeys({
    "?": () => onHelp(true),
    "/": search,
    "g i": () => navigate("/inbox"),
    "g c": () => navigate("/chat"),
    "g h": () => navigate("/history"),
    "g s": () => navigate("/settings"),
  });
  return isHelpOpen && <HelpDialog onClose={() => onHelp(false)} />;
}

/** To the search of the page; where it has none, to that of the inbox. */
function useSearchKey(): () => void {
  const [, navigate] = useLocation();
  return () => {
    const field = document.querySelector<HTMLInputElement>(SEARCH);
    if (field) return field.select();
    navigate("/inbox");
    // The page is there with the next frame, and its heading has taken the focus by then.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => document.querySelector<HTMLInputElement>(SEARCH)?.select()),
    );
  };
}
