/** A file as it is and as it would be, in rows; long runs without a change are folded. */
import { diffArrays } from "diff";
import { LONGEST_BREAK } from "@/text/reveal";

export interface DiffRow {
  type: "same" | "added" | "removed";
  /** In the file as it would be; of a removed line, in the file as it is. */
  number: number;
  text: string;
  /** So many lines with nothing in them, of which this is the first. */
  blank?: number;
}

export type Section = { type: "rows"; rows: DiffRow[] } | { type: "folded"; rows: DiffRow[] };

export interface Difference {
  sections: Section[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Folding less than this would save nothing. */
const SHORTEST_FOLD = 4;
/** Files that have little in common are told apart as wholes; finding the smallest difference would take too long. */
const LONGEST_SEARCH = 400;

export function difference(before: string, after: string): Difference {
  const rows = diffRows(...linesOf(before, after));
  const count = (type: DiffRow["type"]) => rows.filter((row) => row.type === type).length;
  return { sections: folded(withoutGaps(rows)), added: count("added"), removed: count("removed") };
}

export function diffRows(before: readonly string[], after: readonly string[]): DiffRow[] {
  const options = { timeout: LONGEST_SEARCH };
  const changes = diffArrays([...before], [...after], options) ?? [
    { value: [...before], removed: true, added: false },
    { value: [...after], added: true, removed: false },
  ];
  let [old, fresh] = [0, 0];
  return changes.flatMap(({ value, added, removed }) => {
    const rows = value.map((text, place) => rowOf(text, added, removed, (removed ? old : fresh) + place + 1));
    if (!added) old += value.length;
    if (!removed) fresh += value.length;
    return rows;
  });
}

function rowOf(text: string, added: boolean, removed: boolean, number: number): DiffRow {
  return { type: added ? "added" : removed ? "removed" : "same", number, text };
}

/** The lines of both. The break at the end of a file begins no further line, unless only one of them has it. */
function linesOf(before: string, after: string): [string[], string[]] {
  const [old, fresh] = [before, after].map((text) => (text === "" ? [] : text.split("\n"))) as [string[], string[]];
  const hasBreak = (lines: string[]) => lines.length === 0 || lines.at(-1) === "";
  return hasBreak(old) && hasBreak(fresh) ? [old.slice(0, -1), fresh.slice(0, -1)] : [old, fresh];
}

/** Many empty lines would push what follows out of sight. */
function withoutGaps(rows: readonly DiffRow[]): DiffRow[] {
  const found: DiffRow[] = [];
  for (let start = 0; start < rows.length; ) {
    const first = rows[start] as DiffRow;
    let end = start + 1;
    if (isBlank(first)) while (end < rows.length && isBlank(rows[end]) && rows[end]?.type === first.type) end += 1;
    if (end - start > LONGEST_BREAK) found.push({ ...first, blank: end - start });
    else found.push(...rows.slice(start, end));
    start = end;
  }
  return found;
}

function isBlank(row: DiffRow | undefined): boolean {
  return row !== undefined && /^[ \u3000]*$/.test(row.text);
}

export function folded(rows: readonly DiffRow[]): Section[] {
  const sections: Section[] = [];
  for (let start = 0; start < rows.length; ) {
    const isSame = rows[start]?.type === "same";
    let end = start;
    while (end < rows.length && (rows[end]?.type === "same") === isSame) end += 1;
    const run = rows.slice(start, end);
    sections.push(...(isSame ? foldedRun(run, start === 0, end === rows.length) : [whole(run)]));
    start = end;
  }
  return merged(sections);
}

function foldedRun(run: DiffRow[], isFirst: boolean, isLast: boolean): Section[] {
  const head = isFirst ? 0 : CONTEXT;
  const tail = isLast ? 0 : CONTEXT;
  if (run.length - head - tail < SHORTEST_FOLD) return [whole(run)];
  const middle = run.slice(head, run.length - tail);
  return [whole(run.slice(0, head)), { type: "folded", rows: middle }, whole(run.slice(run.length - tail))];
}

function whole(rows: DiffRow[]): Section {
  return { type: "rows", rows };
}

function merged(sections: readonly Section[]): Section[] {
  const found: Section[] = [];
  for (const section of sections) {
    const last = found.at(-1);
    if (section.rows.length === 0) continue;
    // Into its own list: copying it with each section would take minutes where every other line has changed.
    if (last?.type === "rows" && section.type === "rows") for (const row of section.rows) last.rows.push(row);
    else found.push(section);
  }
  return found;
}
