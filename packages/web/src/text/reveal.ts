/** What an agent wrote, in pieces that can be told apart: its letters, and what would otherwise not be seen. */

export const LONGEST_GAP = 20;
export const LONGEST_BREAK = 3;
/** More of the same hidden character in a row are one chip. */
export const LONGEST_RUN = 8;

export type Piece =
  | { type: "text"; text: string }
  /** A character that would not be seen, or would reorder or cover what is read; `count` of it in a row. */
  | { type: "hidden"; code: string; name: string | null; character: string; count: number }
  | { type: "blanks"; count: number; character: string };

export type Row =
  | { type: "line"; pieces: Piece[] }
  /** So many lines with nothing in them, which would push what follows out of sight. */
  | { type: "blank"; count: number };

// Controls, formats (bidi marks, zero-width characters, tags), surrogates, private use, unassigned; spaces and line breaks
// that look like plain ones or like nothing; what is drawn as nothing; and the blank of Braille.
const HIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
// A letter has two marks at most in most scripts; from the third on they pile up over the lines around them.
const PILED = /(?<=\p{M}\p{M})\p{M}/u;
// After a sign that would be drawn plainly, or the digit of a key, it is seen: a picture is drawn in its place.
const OF_PICTURE = /(?<=(?!\p{Emoji_Presentation})\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)/u;
// But for the plain space, and the wide one of Chinese and Japanese.
const UNSEEN = `(?![ \u3000]|${OF_PICTURE.source})${HIDDEN.source}|${PILED.source}`;
const SPLIT = new RegExp(`([ \u3000]{${LONGEST_GAP + 1},})|(${UNSEEN})\\2*`, "gu");

const SCRIPTS = [
  "Hebrew",
  "Arabic",
  "Syriac",
  "Thaana",
  "Nko",
  "Samaritan",
  "Mandaic",
  "Adlam",
  "Hanifi_Rohingya",
  "Yezidi",
];
const LETTER = `(?=\\p{L})[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}]\\p{M}*`;
const RIGHT_TO_LEFT = new RegExp(`(?:${LETTER})+(?: +(?:${LETTER})+)*`, "gu");

const NAMES: Readonly<Record<number, string>> = {
  0: "NUL",
  7: "BEL",
  8: "BS",
  9: "TAB",
  10: "LF",
  13: "CR",
  27: "ESC",
  127: "DEL",
  160: "NBSP",
  173: "SHY",
  847: "CGJ",
  1564: "ALM",
  4447: "HCF",
  4448: "HJF",
  6158: "MVS",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LS",
  8233: "PS",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8239: "NNBSP",
  8288: "WJ",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  10240: "BRAILLE BLANK",
  12644: "HF",
  65279: "BOM",
};

/** One line; a line break in it is shown as the character that it is. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let place = 0;
  for (const match of text.matchAll(SPLIT)) {
    if (match.index > place) found.push({ type: "text", text: text.slice(place, match.index) });
    found.push(...(match[1] === undefined ? run(match[2] ?? "", match[0]) : [blanks(match[1])]));
    place = match.index + match[0].length;
  }
  if (place < text.length) found.push({ type: "text", text: text.slice(place) });
  return found;
}

/** Lines of a text, each of which may hold anything. */
export function rows(lines: readonly string[]): Row[] {
  const found: Row[] = [];
  let blank: string[] = [];
  const flush = () => {
    if (blank.length > LONGEST_BREAK) found.push({ type: "blank", count: blank.length });
    else for (const line of blank) found.push({ type: "line", pieces: pieces(line) });
    blank = [];
  };
  for (const line of lines) {
    if (/^[ \u3000]*$/.test(line)) {
      blank.push(line);
      continue;
    }
    flush();
    found.push({ type: "line", pieces: pieces(line) });
  }
  flush();
  return found;
}

/** Words next to each other that are written in the same direction. Signs and digits are never among the right-to-left. */
export interface Run {
  text: string;
  isRightToLeft: boolean;
}

export function runsOf(text: string): Run[] {
  const found: Run[] = [];
  let place = 0;
  for (const match of text.matchAll(RIGHT_TO_LEFT)) {
    if (match.index > place) found.push({ text: text.slice(place, match.index), isRightToLeft: false });
    found.push({ text: match[0], isRightToLeft: true });
    place = match.index + match[0].length;
  }
  if (place < text.length || found.length === 0) found.push({ text: text.slice(place), isRightToLeft: false });
  return found;
}

/** On one line where there can be no chips: in what is read aloud, and in the notifications of the machine. */
export function spelledOut(text: string): string {
  return pieces(text)
    .map((piece) => {
      if (piece.type === "text") return piece.text;
      if (piece.type === "blanks") return " ";
      return `‹${spellingOf(piece)}›`;
    })
    .join("");
}

/** How many characters a person would not have seen. */
export function hiddenIn(lines: readonly string[]): number {
  let count = 0;
  for (const line of lines) for (const piece of pieces(line)) count += piece.type === "hidden" ? piece.count : 0;
  return count;
}

/** The code, the name where it has one, and how many there are. */
export function spellingOf({ code, name, count }: Extract<Piece, { type: "hidden" }>): string {
  return [code, name, count > 1 ? `×${count}` : null].filter(Boolean).join(" ");
}

function run(character: string, text: string): Piece[] {
  const count = text.length / character.length;
  if (count > LONGEST_RUN) return [hidden(character, count)];
  return Array.from({ length: count }, () => hidden(character, 1));
}

function blanks(text: string): Piece {
  return { type: "blanks", count: text.length, character: text.charAt(0) };
}

function hidden(character: string, count: number): Piece {
  const number = character.codePointAt(0) ?? 0;
  const isTag = number > 0xe0020 && number < 0xe007f;
  const name = isTag ? `TAG ${String.fromCodePoint(number - 0xe0000)}` : (NAMES[number] ?? null);
  const code = `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
  return { type: "hidden", code, name, character, count };
}
