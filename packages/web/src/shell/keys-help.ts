/** Every key, in the order in which the help lists them. */
import type { en } from "./messages";

type Word = keyof typeof en.help;

export interface Key {
  /** Alternatives; each is one key or keys pressed one after the other. */
  keys: readonly (readonly string[])[];
  does: Word;
}

export interface KeyGroup {
  where: Word;
  keys: readonly Key[];
}

const MOD = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl";

function key(does: Word, ...alternatives: string[]): Key {
  return { keys: alternatives.map((one) => one.split(" ")), does };
}

export const KEYS: readonly KeyGroup[] = [
  {
    where: "everywhere",
    keys: [
      key("help", "?"),
      key("search", "/"),
      key("goInbox", "g i"),
      key("goChat", "g c"),
      key("goHistory", "g h"),
      key("goSettings", "g s"),
      key("escape", "Esc"),
    ],
  },
  {
    where: "list",
    keys: [
      key("next", "j", "↓"),
      key("previous", "k", "↑"),
      key("openRow", "o", "Enter"),
      key("select", "x"),
      key("batch", "b"),
    ],
  },
  {
    where: "request",
    keys: [
      key("arm", "a"),
      key("refuse", "r"),
      key("edit", "e"),
      key("reply", "m"),
      key("pick", "1–9"),
      key("view", "v"),
      key("siblings", "[", "]"),
      key("thread", "t"),
      key("copy", "y"),
    ],
  },
  { where: "forms", keys: [key("send", `${MOD}+Enter`)] },
  {
    where: "chat",
    keys: [
      key("sendMessage", "Enter"),
      key("newline", "Shift+Enter"),
      key("stop", `${MOD}+.`),
      key("goRequest", "g r"),
    ],
  },
];
