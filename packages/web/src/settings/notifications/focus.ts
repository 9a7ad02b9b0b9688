/** Where the focus goes when what had it is gone: the name of its channel. */

export function headingOf(channelId: string): string {
  return `channel-${channelId}`;
}

/** With the next drawing: only then is it known what is gone. */
export function focusChannel(channelId: string): void {
  requestAnimationFrame(() => document.getElementById(headingOf(channelId))?.focus());
}
