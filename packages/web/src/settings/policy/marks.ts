/** Which lines of a policy have something said of them. */
import type { PolicyProblem } from "interlock-client/wire";

export type Mark = "error" | "warning";

export function marksOf(problems: readonly PolicyProblem[]): ReadonlyMap<number, Mark> {
  const marks = new Map<number, Mark>();
  for (const { line, warning } of problems) {
    if (line !== null && marks.get(line) !== "error") marks.set(line, warning ? "warning" : "error");
  }
  return marks;
}

/** Errors first, as they stand in the text; what is about the whole comes before all. */
export function ordered(problems: readonly PolicyProblem[]): PolicyProblem[] {
  return [...problems].sort(
    (one, other) => Number(one.warning) - Number(other.warning) || (one.line ?? 0) - (other.line ?? 0),
  );
}

/** From where to where a line stands in the text. */
export function spanOf(text: string, line: number): [number, number] {
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return [start, start + (lines[line - 1]?.length ?? 0)];
}
