/** A run of lines as it stands on the screen. */
export interface Block {
  top: number;
  bottom: number;
  lines: number;
}

/** How many lines lie below `edge`, where the scroller ends. Within a block they count as equally high. */
export function linesLeft(blocks: readonly Block[], edge: number): number {
  let count = 0;
  for (const { top, bottom, lines } of blocks) {
    if (bottom <= edge) continue;
    count += top >= edge ? lines : Math.ceil((lines * (bottom - edge)) / (bottom - top));
  }
  return count;
}
