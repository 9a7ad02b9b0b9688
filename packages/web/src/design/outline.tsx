import { type ComponentProps, createContext, useContext } from "react";

/** Whether it is a part of another page, among others of its kind. */
const Embedded = createContext(false);

export const AsPart = Embedded.Provider;

/** A heading under that of the page; under that of the part, where it stands in one. `isInner`: one level below that. */
export function Heading({ isInner = false, ...rest }: ComponentProps<"h2"> & { isInner?: boolean }) {
  const level = (useContext(Embedded) ? 3 : 2) + (isInner ? 1 : 0);
  const Level = `h${level}` as "h2" | "h3" | "h4";
  return <Level {...rest} />;
}

/** A landmark of its page. Several parts of one page would have landmarks of the same name, so that theirs are groups. */
export function Region(props: ComponentProps<"section">) {
  return <section role={useContext(Embedded) ? "group" : undefined} {...props} />;
}
