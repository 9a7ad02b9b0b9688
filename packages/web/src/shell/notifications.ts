/** Notifications of the machine: only after a person asked for them with a button. */
import type { InboxEntry } from "interlock-client/inbox";
import { useState } from "react";
import { prefer, usePreferences } from "@/preferences/store";

export type NotifyState = "on" | "off" | "denied" | "unsupported";

/** For a switch or a button: whether this person is notified, and the way to change that. */
export function useNotify(): { state: NotifyState; enable: () => Promise<void>; disable: () => void } {
  const { notifications } = usePreferences();
  // What the browser allows changes without a word; it is looked at again after each click.
  const [, setLooked] = useState(0);
  return {
    state: stateOf(notifications),
    enable: async () => {
      const allowed = isSupported() && (await Notification.requestPermission()) === "granted";
      if (allowed) prefer({ notifications: true });
      setLooked((before) => before + 1);
    },
    disable: () => prefer({ notifications: false }),
  };
}

export function canNotify(): boolean {
  return isSupported() && Notification.permission === "granted";
}

/** Those that are on the screen. */
export class Notices {
  readonly #shown = new Map<Notification, Set<string>>();

  show(text: { title: string; body: string }, entries: readonly InboxEntry[], open: () => void): void {
    const ids = entries.map((entry) => entry.request_id);
    const notice = made(text, ids[0] ?? "");
    if (!notice) return;
    this.#shown.set(notice, new Set(ids));
    notice.onclose = () => this.#shown.delete(notice);
    notice.onclick = () => {
      window.focus();
      open();
      notice.close();
    };
  }

  /** A notification of what no longer waits is taken away. */
  settled(requestId: string): void {
    for (const [notice, ids] of this.#shown) {
      ids.delete(requestId);
      if (!ids.size) this.#close(notice);
    }
  }

  clear = (): void => {
    for (const notice of this.#shown.keys()) this.#close(notice);
  };

  #close(notice: Notification): void {
    this.#shown.delete(notice);
    notice.close();
  }
}

function made({ title, body }: { title: string; body: string }, id: string): Notification | null {
  try {
    // Two tabs of one person tell of the same: by the tag the machine shows it once.
    return new Notification(title, { body, tag: `interlock-${id}`, icon: "/icon.svg" });
  } catch {
    // Browsers of phones have the name, and take it only from a service worker.
    return null;
  }
}

function stateOf(isWanted: boolean): NotifyState {
  if (!isSupported()) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return isWanted && Notification.permission === "granted" ? "on" : "off";
}

function isSupported(): boolean {
  return "Notification" in globalThis && globalThis.isSecureContext;
}
