import { RequestView } from "./request-view";

/** A request at its own address, in whatever the page gives it. */
export function RequestPage({ id }: { id: string }) {
  return <RequestView id={id} />;
}
