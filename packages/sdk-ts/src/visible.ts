/** Text as it is: whatever would hide or reorder what a person reads is written out as an escape. */

// Controls, formats (bidi marks, zero-width characters, tags), surrogates, private use, unassigned; spaces and line breaks
// that look like plain ones or like nothing; what is drawn as nothing; and the blank of Braille.
const HIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** The plain one, and the wide one of Chinese and Japanese. */
const SPACES = " \u3000";

/** The text with every such character replaced: `\x1b`, `\u202e`, `\U000e0041`. Those in `keep` stay. */
export function visible(text: string, keep = "\n"): string {
  return text.replace(HIDDEN, (one) => (SPACES.includes(one) || keep.includes(one) ? one : escaped(one)));
}

function escaped(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  const hex = number.toString(16);
  if (number <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return number <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
