/** What the address of the sign-in page says: where to go afterwards, and the token of a one-time link. */

import type { FinishSignOn } from "interlock-client/wire";

const FIRST = "/inbox";
const TOKEN = /^#once=([\w.~-]+)$/;

let token: string | null = null;

/** Where to go after signing in: a path of this server, whatever the address asks for. */
export function nextOf(search: string, origin: string = location.origin): string {
  const wanted = new URLSearchParams(search).get("next") ?? "";
  if (!wanted.startsWith("/") || !URL.canParse(wanted, origin)) return FIRST;
  const { origin: found, pathname, search: query, hash } = new URL(wanted, origin);
  // What is left after reading it may be another host's again: "/.//host" is the path "//host".
  if (found !== origin || pathname.startsWith("//")) return FIRST;
  return pathname === "/login" ? FIRST : pathname + query + hash;
}

/** The token of the link, which is out of the address from then on: nobody finds it in the browser's history. */
export function takeToken(): string | null {
  const match = TOKEN.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  if (match) token = match[1] ?? null;
  return token;
}

let given: FinishSignOn | null = null;

/** What the provider of single sign-on sent, which is out of the address from then on. */
export function takeReturn(): FinishSignOn | null {
  const query = new URLSearchParams(location.search);
  const [state, code, iss] = ["state", "code", "iss"].map((name) => query.get(name));
  if (location.search) history.replaceState(null, "", location.pathname);
  if (state) given = { state, code: code ?? null, iss: iss ?? null };
  return given;
}

/** It holds once. */
export function dropToken(): void {
  token = null;
}
