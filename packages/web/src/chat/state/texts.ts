/** The agent's text, from tokens and whole messages: nothing is lost or doubled over any number of connections. */
import type { Partial as Piece } from "interlock-client/events";
import { type Item, type Place, placeOf, type TextItem } from "./model";

export interface Before {
  /** The place of the token before this one. */
  token: Place | null;
  isResumed: boolean;
}

/** The items with one more piece of text. */
export function withPiece(items: readonly Item[], piece: Piece, before: Before): Item[] {
  const place = placeOf(piece.id);
  const isWhole = place !== null && place.token === null;
  const item: TextItem = { type: "text", text: piece.content, isWhole };
  if (piece.reset) return withReset(items, item);
  const last = items.at(-1);
  if (isWhole || !isBeingWritten(last)) return [...items, item];
  if (before.isResumed || isAgain(place, before.token)) return [...items.slice(0, -1), item];
  // A message that was told to its end by tokens has no frame of its own, only a number: what follows is another one.
  if (place?.entry !== before.token?.entry) return [...items, item];
  return [...items.slice(0, -1), { ...last, text: last.text + piece.content }];
}

/** All of a message so far takes the place of its pieces, wherever these were cut. */
function withReset(items: readonly Item[], item: TextItem): Item[] {
  const same = items.findLastIndex((one) => isBeingWritten(one) && one.text === item.text);
  if (same >= 0) return items.map((one, index) => (index === same ? item : one));
  const from = firstOfMessage(items, item.text);
  return [...items.slice(0, from), item];
}

/** Where the pieces of this message begin, among those at the end. */
function firstOfMessage(items: readonly Item[], text: string): number {
  const trailing = items.length - items.findLastIndex((one) => !isBeingWritten(one)) - 1;
  for (let count = trailing; count > 0; count -= 1) {
    const pieces = items.slice(items.length - count) as TextItem[];
    if (text.startsWith(pieces.map((one) => one.text).join(""))) return items.length - count;
  }
  // None of them is a beginning of it: it was written anew.
  return items.length - Math.min(trailing, 1);
}

function isBeingWritten(item: Item | undefined): item is TextItem {
  return item?.type === "text" && !item.isWhole;
}

/** Tokens only ever go on: one that does not is the beginning of another try. */
function isAgain(place: Place | null, before: Place | null): boolean {
  if (place === null || before === null || place.entry !== before.entry) return false;
  return (place.token ?? 0) <= (before.token ?? 0);
}
