import { useEffect, useState } from "react";

/** What `take` reads from behind the # of the address, also when another such link is opened in this tab, for which a browser loads nothing. */
export function useFragment<T>(take: () => T): T {
  const [taken, setTaken] = useState<T>(take);
  useEffect(() => {
    const takeAgain = () => setTaken(take);
    addEventListener("hashchange", takeAgain);
    return () => removeEventListener("hashchange", takeAgain);
  }, [take]);
  return taken;
}
