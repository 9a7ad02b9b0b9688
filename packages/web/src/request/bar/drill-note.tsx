import type { Drill } from "interlock-client/inbox";
import { type Review, useReview } from "../review";
import styles from "./bar.module.css";

/** What it was, once it is answered: until then a drill is shown as any other request. */
export function drillOf({ delivery, request }: Review): Drill | null {
  const told = delivery?.state === "done" ? delivery.settled.drill : null;
  return told ?? request.drill ?? null;
}

/** In the server's words, at once: a drill without them teaches nothing. */
export function DrillNote() {
  const drill = drillOf(useReview());
  if (!drill) return null;
  return (
    <p className={styles.drill} role="status">
      {drill.text}
    </p>
  );
}
