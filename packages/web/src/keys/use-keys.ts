/** Single keys that do something: never in fields, on repeat, with a modifier that was not asked for, or while typing Chinese. */
import { createContext, useContext, useEffect, useLayoutEffect, useRef } from "react";
import { type KeyBindingMap, tinykeys } from "tinykeys";
import { usePreferences } from "@/preferences/store";

export type Keys = Record<string, (event: KeyboardEvent) => void>;

const FIELDS =
  "input:not([type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable=true], .cm-editor";

/** Whether what is drawn here stands in a modal dialog, which takes the keys of the page behind it. */
export const InDialog = createContext(false);

/** While `enabled`. */
export function useKeys(keys: Keys, enabled = true): void {
  const { shortcuts } = usePreferences();
  const isInDialog = useContext(InDialog);
  const newest = useRef(keys);
  // With what is drawn, not a moment after it: a key is about what is on the screen.
  useLayoutEffect(() => {
    newest.current = keys;
  });
  const names = Object.keys(keys).sort().join(" | ");
  useEffect(() => {
    if (!enabled || !shortcuts || !names) return;
    const bindings: KeyBindingMap = {};
    for (const name of names.split(" | ")) {
      const pressed = (event: KeyboardEvent) => {
        if (isTyped(event) || (!isInDialog && hasDialog())) return;
        event.preventDefault();
        newest.current[name]?.(event);
      };
      bindings[name] = pressed;
      bindings[shifted(name)] ??= pressed;
    }
    return tinykeys(window, bindings);
  }, [names, enabled, shortcuts, isInDialog]);
}

/** Letters work in either case, and some keyboards have `?` and `/` behind Shift. */
function shifted(name: string): string {
  return name.replace(/(?<=^| )\S(?=$| )/g, "Shift+$&");
}

/** Whether a key belongs to something else than a shortcut. */
export function isTyped(event: KeyboardEvent): boolean {
  if (event.repeat || isComposing(event)) return true;
  const target = event.composedPath()[0] ?? event.target;
  return target instanceof Element && target.closest(FIELDS) !== null;
}

/** Also one that the browser has just closed, and that is opened again: it is on the page as long as it is meant to be. */
function hasDialog(): boolean {
  return document.querySelector("dialog") !== null;
}

/** Whether an input method is putting a word together: its Enter is not the person's. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
