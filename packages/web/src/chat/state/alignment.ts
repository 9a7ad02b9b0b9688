/**
 * Which message began which turn.
 *
 * The stream tells what agents do, not what people say; the history tells what was said, not when. Both are in order, so
 * they are laid side by side from the end.
 */
import type { Said, Turn } from "./model";

interface Chunk {
  user: string;
  replies: string[];
  messages: Said[];
}

export interface Aligned {
  /** What was said before the first turn of the log. */
  earlier: Said[];
  turns: Turn[];
  /** Said last, and nothing was told of what came of it. */
  justSaid: string | null;
}

export function aligned(turns: readonly Turn[], history: readonly Said[]): Aligned {
  const { before, chunks } = chunksOf(history);
  const last = chunks.at(-1);
  const justSaid = last && isJustSaid(last, chunks.length, turns) ? last.user : null;
  if (justSaid !== null) chunks.pop();
  const placed: Turn[] = [];
  let chunk = chunks.length - 1;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index] as Turn;
    const here = chunks[chunk];
    if (!here || isNewer(turn, here, index - chunk)) {
      placed.unshift(turn);
      continue;
    }
    const [begun, count] = whole(turns, index, chunks, chunk);
    placed.unshift({ ...begun, user: begun.user ?? here.user });
    index -= count - 1;
    chunk -= 1;
  }
  const left = chunks.slice(0, chunk + 1).flatMap((one) => one.messages);
  return { earlier: [...before, ...left], turns: placed, justSaid };
}

/** Whether its message was not in the history yet when that was read; `ahead`: how many more turns than chunks there are. */
function isNewer(turn: Turn, chunk: Chunk, ahead: number): boolean {
  return ahead > 0 && turn.user !== null && turn.user !== chunk.user;
}

/** The turn at this place with the tries before it that failed, and how many that are. */
function whole(turns: readonly Turn[], index: number, chunks: readonly Chunk[], chunk: number): [Turn, number] {
  let turn = turns[index] as Turn;
  let count = 1;
  while (turn.isGuess) {
    const before = turns[index - count];
    if (!before || !isSameTurn(before, index - count, chunks, chunk)) break;
    turn = { ...turn, key: before.key, items: [...before.items, ...turn.items], isGuess: before.isGuess };
    count += 1;
  }
  return [turn, count];
}

/** Whether a failed turn was tried again, not followed by another message. */
function isSameTurn(failed: Turn, index: number, chunks: readonly Chunk[], chunk: number): boolean {
  const left = index + 1;
  if (left > chunk) return true;
  const here = chunks[chunk];
  const before = chunks[chunk - 1];
  return here !== undefined && fits(failed, here) && !(before && fits(failed, before));
}

function isJustSaid(last: Chunk, count: number, turns: readonly Turn[]): boolean {
  const turn = turns.at(-1);
  if (last.replies.length > 0) return false;
  if (!turn) return true;
  return turn.isOver && (count > turns.length || !fits(turn, last));
}

function fits(turn: Turn, chunk: Chunk): boolean {
  return turn.items.every((item) => item.type !== "text" || !item.isWhole || chunk.replies.includes(item.text));
}

function chunksOf(history: readonly Said[]): { before: Said[]; chunks: Chunk[] } {
  const before: Said[] = [];
  const chunks: Chunk[] = [];
  for (const message of history) {
    if (message.role === "user") chunks.push({ user: message.content, replies: [], messages: [] });
    const chunk = chunks.at(-1);
    (chunk?.messages ?? before).push(message);
    if (message.role === "assistant") chunk?.replies.push(message.content);
  }
  return { before, chunks };
}
