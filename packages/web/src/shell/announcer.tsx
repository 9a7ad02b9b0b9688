/** What a screen reader is told without the focus moving. */
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

type Announce = (text: string, urgency?: "polite" | "assertive") => void;

const Context = createContext<Announce>(() => {});

export function Announcer({ children }: { children: ReactNode }) {
  const [texts, setTexts] = useState({ polite: "", assertive: "" });
  const announce = useCallback<Announce>((text, urgency = "polite") => {
    // The same text twice is told twice: the region has to change for that.
    setTexts((before) => ({ ...before, [urgency]: before[urgency] === text ? `${text}\u00a0` : text }));
  }, []);
  return (
    <Context.Provider value={announce}>
      {children}
      <div className="only-read-aloud" aria-live="polite">
        {texts.polite}
      </div>
      <div className="only-read-aloud" aria-live="assertive">
        {texts.assertive}
      </div>
    </Context.Provider>
  );
}

export function useAnnounce(): Announce {
  return useContext(Context);
}
