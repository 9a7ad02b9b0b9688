/** The items of a turn as they stand on the page: what is asked about a call stands before what came of it. */
import type { Asked, Item } from "./model";

export interface Placed {
  /** Its place among the items of the turn. */
  index: number;
  /** Without what stands with calls. */
  item: Item;
  asked: Asked[];
}

export function arranged(items: readonly Item[]): Placed[] {
  const placed: Placed[] = [];
  for (const [index, item] of items.entries()) {
    if (item.type !== "pause") placed.push({ index, item, asked: [] });
    else placed.push({ index, item: { ...item, asked: item.asked.filter((one) => !isPut(one, placed)) }, asked: [] });
  }
  return placed;
}

/** Put it with its call, if that is there. */
function isPut(asked: Asked, placed: readonly Placed[]): boolean {
  const call = placed.findLast(
    ({ item }) => item.type === "tool" && asked.callId !== null && item.callId === asked.callId,
  );
  call?.asked.push(asked);
  return call !== undefined;
}
