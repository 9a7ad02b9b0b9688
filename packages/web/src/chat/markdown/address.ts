/** Where a link of an agent leads. */

const LEADS_OUT = ["http:", "https:", "mailto:"];

/** The whole address, host names in the letters that decide where it leads; `null` for what is no link here. */
export function addressOf(href: string | undefined): string | null {
  if (!href || !URL.canParse(href)) return null;
  const url = new URL(href);
  return LEADS_OUT.includes(url.protocol) ? url.href : null;
}

/** Whether the words of the link are its address already. */
export function isSpelledOut(words: string, address: string): boolean {
  return words === address || `${words}/` === address;
}

/** Whether an address was written as such, and became a link by itself. */
export function isItself(words: string, href: string): boolean {
  return ["", "http://", "mailto:"].some((scheme) => words !== "" && scheme + words === href);
}
