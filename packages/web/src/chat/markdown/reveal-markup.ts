/** Hidden characters in the agent's Markdown, after it was read as such: each becomes a mark that is drawn as a chip. */
import { type Piece, pieces, spellingOf } from "@/text/reveal";

/** What is needed of a node of the tree that react-markdown draws. */
export interface Node {
  type: string;
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

// A heart that is drawn as a picture, and families of several, are made with characters that are hidden elsewhere.
const EMOJI =
  /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic}\ufe0f?)+|[0-9#*]\ufe0f?\u20e3/gu;

/** A plugin of rehype. */
export function revealMarkup() {
  return (tree: unknown): void => revealIn(tree as Node);
}

function revealIn(node: Node): void {
  node.children = node.children?.flatMap((child) => {
    if (child.type === "text") return revealed(child.value ?? "");
    revealIn(child);
    return child;
  });
}

export function revealed(text: string): Node[] {
  const found: Node[] = [];
  let place = 0;
  for (const match of text.matchAll(EMOJI)) {
    found.push(...plain(text.slice(place, match.index)), { type: "text", value: match[0] });
    place = match.index + match[0].length;
  }
  return joined([...found, ...plain(text.slice(place))]);
}

/** Line breaks and tabs are Markdown's own. */
function plain(text: string): Node[] {
  return text
    .split(/([\n\t])/)
    .flatMap((part) => (part === "\n" || part === "\t" ? [{ type: "text", value: part }] : pieces(part).map(nodeOf)));
}

function nodeOf(piece: Piece): Node {
  if (piece.type === "text") return { type: "text", value: piece.text };
  if (piece.type === "blanks") return chip({ dataBlanks: String(piece.count) }, piece.character.repeat(piece.count));
  const spelled = spellingOf(piece);
  return chip({ dataHidden: spelled }, `‹${spelled}›`);
}

function chip(properties: Record<string, unknown>, value: string): Node {
  return { type: "element", tagName: "mark", properties, children: [{ type: "text", value }] };
}

function joined(nodes: readonly Node[]): Node[] {
  const found: Node[] = [];
  for (const node of nodes) {
    const last = found.at(-1);
    if (node.type === "text" && last?.type === "text") last.value = (last.value ?? "") + (node.value ?? "");
    else if (node.type !== "text" || node.value) found.push({ ...node });
  }
  return found;
}
