import type { KeyboardEvent } from "react";

/** On what decides: Enter, which people press to get on, does nothing there. */
export function withoutEnter(event: KeyboardEvent): void {
  if (event.key === "Enter") event.preventDefault();
}
