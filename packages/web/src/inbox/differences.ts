/** Where calls that look alike are not. */

/** Lines in a row that every call has there, or that not every call has. */
export interface Stretch {
  isSame: boolean;
  lines: string[];
}

/** A line is the same where every call has it as far from its beginning, or as far from its end. */
export function stretches(call: readonly string[], calls: readonly (readonly string[])[]): Stretch[] {
  const found: Stretch[] = [];
  call.forEach((line, place) => {
    const fromEnd = place - call.length;
    const isSame = calls.every((other) => other[place] === line) || calls.every((other) => other.at(fromEnd) === line);
    const last = found.at(-1);
    if (last?.isSame === isSame) last.lines.push(line);
    else found.push({ isSame, lines: [line] });
  });
  return found;
}
