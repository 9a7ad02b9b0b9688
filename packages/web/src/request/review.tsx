/** One request under review: what is shown of it, how far the person has come, and how it is answered. */

import type { InterlockError } from "interlock-client/errors";
import type { InboxRequest } from "interlock-client/inbox";
import type { JsonObject } from "interlock-client/json";
import { createContext, type RefObject, useContext } from "react";
import type { Act, Delivery } from "./api/deliveries";
import type { Misfit } from "./edit/misfits";
import type { Armed } from "./model/arming";
import type { Draft } from "./model/drafts";
import type { Look } from "./model/looks";
import type { Obstacle } from "./model/obstacle";
import type { Situation } from "./model/outcome";
import type { leftOut } from "./model/people";
import type { Kept } from "./model/remember";
import type { OverClaim } from "./use-sending";
import type { End } from "./views/use-end";

/** Which form is open. */
export type Mode = "look" | "refuse" | "edit" | "reply" | "dismiss";

/** The edited arguments as they are now, and where they do not fit. */
export interface Edit {
  args: JsonObject;
  misfits: Misfit[];
  isChanged: boolean;
}

export interface Review {
  /** As it is shown: the file behind it stays the one that the difference was made of. */
  request: InboxRequest;
  embedded: boolean;
  situation: Situation;
  delivery: Delivery | null;
  /** The file has changed since. */
  isStale: boolean;
  showNew(): void;

  look: Look;
  setLook(look: Look): void;
  end: End;

  mode: Mode;
  setMode(mode: Mode): void;
  draft: Draft;
  setDraft(changed: Partial<Draft> | ((draft: Draft) => Draft)): void;
  edit: Edit | null;
  setEdit(edit: Edit | null): void;
  /** Values that are nobody else's to see: they are kept here, and nowhere else. */
  secrets: RefObject<Map<string, string>>;
  /** Whether the values are to be kept for later asks. */
  save: boolean;
  setSave(save: boolean): void;
  /** Whether it was tried to send with something left out. */
  isTried: boolean;
  setTried(isTried: boolean): void;

  /** The digits that the present answer has to repeat; null where it needs none. */
  code: string | null;
  typed: string;
  setTyped(typed: string): void;
  kept: Kept;
  setKept(kept: Kept): void;
  obstacle: Obstacle | null;
  /** When the first of the two keys was pressed. */
  armedAt: Armed;
  arm(moment: Armed): void;

  /** What is not offered because people are named for it. */
  leftOut: ReturnType<typeof leftOut>;
  /** An answer that is to be given although somebody else has it: asked about, and not sent yet. */
  over: OverClaim | null;
  confirmOver(): void;
  dropOver(): void;

  /** What the server said of an answer that it did not take. */
  problem: InterlockError | null;
  /** It has been seen. */
  forget(): void;
  /** Whether this press does not count yet. */
  isLate(event: Event): boolean;
  send(act: Act, value: JsonObject): void;
  /** Approve it alone, and say why. */
  override(reason: string): void;
  dismiss(): void;
  extend(): Promise<void>;
}

export const ReviewContext = createContext<Review | null>(null);

export function useReview(): Review {
  const review = useContext(ReviewContext);
  if (!review) throw new Error("useReview is for what stands inside of a request");
  return review;
}
