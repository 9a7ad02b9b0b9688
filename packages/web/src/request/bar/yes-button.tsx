import type { ReactNode } from "react";
import { Button } from "@/design/button";
import { withoutEnter } from "@/keys/without-enter";

interface Props {
  isRisky: boolean;
  /** It stays where it is and can be reached, so that what is missing can be told. */
  isOff: boolean;
  describedBy?: string;
  hint?: string | undefined;
  onYes: () => void;
  children: ReactNode;
}

/** A yes takes a click or the space bar. Enter, which people press to get on, does nothing. */
export function YesButton({ isRisky, isOff, describedBy, hint, onYes, children }: Props) {
  return (
    <Button
      look={isRisky ? "danger" : "primary"}
      data-act="yes"
      aria-disabled={isOff}
      aria-describedby={isOff ? describedBy : undefined}
      hint={hint}
      onKeyDown={withoutEnter}
      onClick={onYes}
    >
      {isRisky && <span aria-hidden="true">▲</span>}
      {children}
    </Button>
  );
}
