/**
 * Markdown of which nothing may be lost: what would not be drawn is drawn as it is written. Where something would be
 * lost all the same, the whole is shown as the text that it is.
 */
import { isItself } from "./address";
import type { Node } from "./reveal-markup";

interface Written extends Node {
  data?: { hProperties: Record<string, unknown> };
  lang?: string | null;
  meta?: string | null;
  position?: { start: { offset?: number }; end: { offset?: number } };
}

/** Drawn elsewhere, or only where something else speaks of them. */
const BLOCKS = ["definition", "footnoteDefinition"];
const INLINE = ["linkReference", "imageReference", "footnoteReference"];
/** The signs that a list draws by itself. */
const MARKERS = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)+(?:\[[ xX]\]\s)?/gm;

/** A plugin of remark. */
export function spellOut() {
  return (tree: unknown, file: unknown): void => spellIn(tree as Written, String(file));
}

function spellIn(node: Written, source: string): void {
  node.children = node.children?.flatMap((child: Written) => {
    if (BLOCKS.includes(child.type)) return paragraph(sliceOf(child, source));
    if (INLINE.includes(child.type)) return { type: "text", value: sliceOf(child, source) };
    spellIn(child, source);
    const info = [child.lang, child.meta].filter(Boolean).join(" ");
    return child.type === "code" && info
      ? [{ ...paragraph(info), data: { hProperties: { dataInfo: "" } } }, child]
      : child;
  });
}

function sliceOf({ position }: Written, source: string): string {
  return source.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
}

function paragraph(text: string): Written {
  return { type: "paragraph", children: [{ type: "text", value: text }] };
}

/** A plugin of rehype. */
export function wholeOrPlain() {
  return (tree: unknown, file: unknown): void => {
    const [node, source] = [tree as Node, String(file)];
    if (!isWhole(source, drawnIn(node))) node.children = plain(source);
  };
}

/** Whether all letters and digits of the source are drawn, in their order. */
export function isWhole(source: string, drawn: string): boolean {
  const wanted = lettersOf(source.replace(MARKERS, ""));
  let place = 0;
  for (const letter of lettersOf(drawn)) if (letter === wanted[place]) place += 1;
  return place === wanted.length;
}

function lettersOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]/gu) ?? [];
}

/** What is on the screen in the end, addresses included. */
function drawnIn(node: Node): string {
  if (node.tagName === "img") return `${node.properties?.alt ?? ""} ${node.properties?.src ?? ""}`;
  const own = node.type === "text" || node.type === "raw" ? (node.value ?? "") : "";
  const text = own + (node.children ?? []).map(drawnIn).join("");
  if (node.tagName !== "a") return text;
  const address = String(node.properties?.href ?? "");
  return isItself(text, address) ? text : `${text} ${address}`;
}

function plain(source: string): Node[] {
  const code = { type: "element", tagName: "code", properties: {}, children: [{ type: "text", value: source }] };
  return [
    { type: "element", tagName: "mark", properties: { dataPlain: "" }, children: [] },
    { type: "element", tagName: "pre", properties: {}, children: [code] },
  ];
}
