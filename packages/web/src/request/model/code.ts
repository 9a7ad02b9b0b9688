/** The four digits that stand after the last line: the server makes them of the digest in the same way. */
export function codeOf(digest: string): string {
  return String(Number.parseInt(digest.slice(0, 8), 16) % 10_000).padStart(4, "0");
}
