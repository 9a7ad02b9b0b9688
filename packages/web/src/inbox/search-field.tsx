import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { isComposing } from "@/keys/use-keys";
import styles from "./inbox.module.css";

const PAUSE = 300;

interface Props {
  text: string;
  onSearch: (text: string | null) => void;
  /** To the list. */
  onLeave: () => void;
}

/** It searches when the person pauses, or presses Enter. */
export function SearchField({ text, onSearch, onLeave }: Props) {
  const t = useTranslations("inbox");
  const { typed, setTyped, search } = useTyped(text, onSearch);
  const press = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter") search();
    if (event.key === "ArrowDown" || (event.key === "Escape" && !typed)) {
      event.preventDefault();
      onLeave();
    }
  };
  return (
    <div className={styles.search}>
      <Search size={16} aria-hidden="true" />
      <input
        type="search"
        aria-label={t("search")}
        placeholder={t("search")}
        maxLength={200}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={press}
      />
      <span className={styles.key} aria-hidden="true">
        /
      </span>
    </div>
  );
}

function useTyped(text: string, onSearch: Props["onSearch"]) {
  const [typed, setTyped] = useState(text);
  const sent = useRef(text);
  const search = () => {
    sent.current = typed.trim();
    onSearch(sent.current || null);
  };
  // Only what comes from elsewhere: while somebody types, the address is behind.
  useEffect(() => {
    if (text === sent.current) return;
    sent.current = text;
    setTyped(text);
  }, [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts a search
  useEffect(() => {
    if (typed.trim() === sent.current) return;
    const timer = setTimeout(search, PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, setTyped, search };
}
