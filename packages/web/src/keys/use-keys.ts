/** Single keys that do something: never in fields, on repeat, with a modifier that was not asked for, or while typing Chinese. */
import { useEffect, useRef } from "react";
import { type KeyBindingMap, tinykeys } from "tinykeys";
import { usePreferences } from "@/preferences/store";

export type Keys = Record<string, (event: KeyboardEvent) => void>;

const FIELDS =
  "input:not([type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable=true], .cm-editor";

/** While `enabled`; a modal dialog takes the keys of the page behind it. */
export function useKeys(keys: Keys, enabled = true): void {
  const { shortcuts } = usePreferences();
  const newest = useRef(keys);
  useEffect(() => {
    newest.current = keys;
  });
  const names = Object.keys(keys).sort().join(" | ");
  useEffect(() => {
    if (!enabled || !shortcuts || !names) return;
    const bindings: KeyBindingMap = {};
    for (const name of names.split(" | ")) {
      bindings[name] = (event) => {
        if (isTyped(event)) return;
        event.preventDefault();
        newest.current[name]?.(event);
      };
    }
    return tinykeys(window, bindings);
  }, [names, enabled, shortcuts]);
}

/** Whether a key belongs to something else than a shortcut. */
export function isTyped(event: KeyboardEvent): boolean {
  if (event.repeat || isComposing(event)) return true;
  const target = event.composedPath()[0] ?? event.target;
  if (target instanceof Element && target.closest(FIELDS)) return true;
  const modal = document.querySelector("dialog:modal");
  return modal !== null && !(target instanceof Node && modal.contains(target));
}

/** Whether an input method is putting a word together: its Enter is not the person's. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
