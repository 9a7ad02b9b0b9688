import { type ReactNode, useEffect, useRef } from "react";
import { setTitle } from "./document-title";

/** The h1 of a page, which takes the focus when the page is opened, so that it is read first; its tab says the same. */
export function PageTitle({ name, children }: { name: string; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another name
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, [name]);
  // With every change of its words.
  useEffect(() => setTitle({ page: heading.current?.textContent ?? "" }));
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
