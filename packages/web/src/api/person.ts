/** Whose page this is, for what outlives a page and must not pass from one person to the next. */

let present: string | null = null;
const leavers = new Set<() => void>();

export function presentPerson(): string | null {
  return present;
}

/** Another one than before: whatever was the last one's is let go of. */
export function setPresentPerson(userId: string | null): void {
  if (present === userId) return;
  const isLeft = present !== null;
  present = userId;
  if (isLeft) for (const leave of leavers) leave();
}

export function whenPersonLeaves(leave: () => void): void {
  leavers.add(leave);
}
