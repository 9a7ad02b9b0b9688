/** What the browser's tab says: how much waits, what is open, and whose page it is. */

const APP = "Interlock";
const LONGEST = 80;

const parts = { count: "", page: "" };

export function setTitle(changed: Partial<typeof parts>): void {
  Object.assign(parts, changed);
  const page = parts.page.length > LONGEST ? `${parts.page.slice(0, LONGEST - 1)}…` : parts.page;
  const named = page.includes(APP) ? page : [page, APP].filter(Boolean).join(" · ");
  document.title = parts.count ? `(${parts.count}) ${named}` : named;
}
