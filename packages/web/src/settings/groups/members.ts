/** Members as they are typed: one a line. */

export function typedOf(members: readonly string[]): string {
  return members.join("\n");
}

export function membersOf(typed: string): string[] {
  const lines = typed.split("\n").map((line) => line.trim());
  return [...new Set(lines.filter(Boolean))];
}
