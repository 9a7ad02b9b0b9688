/**
 * The arguments of a call, read from the server's own spelling of them: an object over several lines, indented by two.
 *
 * What is shown is cut out of that text. It is never spelled again here: JavaScript has no numbers above 2^53.
 */
export interface Argument {
  name: string;
  /** Its value as it is spelled. */
  lines: string[];
  /** The lines of a text that has several; null for everything else. */
  text: string[] | null;
}

const BEGINS = /^ {2}("(?:[^"\\]|\\.)*"): (.*)$/s;

export function argumentsOf(lines: readonly string[]): Argument[] {
  const found: Argument[] = [];
  for (const line of lines.slice(1, -1)) {
    const begins = BEGINS.exec(line);
    if (begins) found.push({ name: decoded(begins[1] ?? '""'), lines: [begins[2] ?? ""], text: null });
    else found.at(-1)?.lines.push(line.slice(2));
  }
  return found.map(finished);
}

/** The object that these arguments make, spelled as the server spells objects. */
export function spelled(given: readonly Argument[]): string[] {
  if (given.length === 0) return ["{}"];
  const sorted = [...given].sort((one, other) => (one.name < other.name ? -1 : 1));
  const lines = sorted.flatMap((argument, place) => {
    const [first = "", ...rest] = argument.lines;
    const entry = [`  ${JSON.stringify(argument.name)}: ${first}`, ...rest.map((line) => `  ${line}`)];
    if (place < sorted.length - 1) entry.push(`${entry.pop()},`);
    return entry;
  });
  return ["{", ...lines, "}"];
}

export function textArgument(name: string, text: string): Argument {
  return finished({ name, lines: [JSON.stringify(text)], text: null });
}

/** Numbers that would not be the same after this page had read and sent them. */
export function unsafeNumbers(lines: readonly string[]): string[] {
  const outside = lines.join("\n").replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  return [...outside.matchAll(/-?\d[\d.eE+-]*/g)].map(([text]) => text).filter((text) => !isSafe(text));
}

/** 1.0 and 1e5 too are something else to whoever reads them than 1 and 100000. */
function isSafe(text: string): boolean {
  return JSON.stringify(Number(text)) === text;
}

function finished(argument: Argument): Argument {
  const lines = [...argument.lines];
  // The comma belongs to the object, not to the value.
  lines.push((lines.pop() ?? "").replace(/,$/, ""));
  const [only = ""] = lines;
  const text = lines.length === 1 && only.startsWith('"') ? decoded(only) : "";
  return { ...argument, lines, text: text.includes("\n") ? text.split("\n") : null };
}

function decoded(spelling: string): string {
  try {
    return String(JSON.parse(spelling));
  } catch {
    return spelling;
  }
}
