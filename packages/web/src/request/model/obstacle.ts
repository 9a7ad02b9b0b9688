/** What still stands between a person and a yes. */
export type Obstacle =
  /** The file is no longer the one that the difference was made of. */
  | { type: "stale" }
  /** The end of what will run was not on the screen yet. */
  | { type: "unread"; isEdited: boolean }
  /** The edited arguments are not of the form that the tool takes, or are the ones that were asked for. */
  | { type: "misfit" }
  | { type: "unchanged" }
  | { type: "code"; isWrong: boolean };

export interface Yes {
  isStale: boolean;
  hasSeenEnd: boolean;
  /** The digits that have to be typed; null where one click is enough. */
  code: string | null;
  typed: string;
  edit: "none" | "unchanged" | "misfit" | "fits";
}

export function obstacleTo(yes: Yes): Obstacle | null {
  if (yes.isStale) return { type: "stale" };
  if (yes.edit === "misfit" || yes.edit === "unchanged") return { type: yes.edit };
  if (!yes.hasSeenEnd) return { type: "unread", isEdited: yes.edit !== "none" };
  if (yes.code !== null && yes.typed !== yes.code) return { type: "code", isWrong: yes.typed.length >= 4 };
  return null;
}
