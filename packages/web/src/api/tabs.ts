/** The tabs of one browser share one cookie: what one of them does to the session, the others hear of. */

const NAME = "interlock.session";

/** `left`: nobody is signed in any more. `came`: somebody is, perhaps another one. */
export type Word = "left" | "came";

export function tellTabs(word: Word): void {
  const channel = opened();
  channel?.postMessage(word);
  channel?.close();
}

export function hearTabs(hear: (word: Word) => void): () => void {
  const channel = opened();
  if (!channel) return () => {};
  channel.onmessage = ({ data }) => {
    if (data === "left" || data === "came") hear(data);
  };
  return () => channel.close();
}

/** A browser without them is asked when the tab is looked at. */
function opened(): BroadcastChannel | null {
  return typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
}
