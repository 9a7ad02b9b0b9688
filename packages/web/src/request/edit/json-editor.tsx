import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { pieces } from "@/text/reveal";
import styles from "./edit.module.css";

interface Props {
  label: string;
  /** What it begins with. */
  text: string;
  onChange: (text: string) => void;
  isUnfinished: boolean;
}

/**
 * CodeMirror in a shadow root: there it brings its styles as constructed sheets, which the pages' policy allows. In the
 * document itself it would write style elements.
 */
export function JsonEditor({ label, text, onChange, isUnfinished }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const newest = useRef(onChange);
  useEffect(() => {
    newest.current = onChange;
  });
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      parent: root,
      root,
      state: stateOf(text, label, (changed) => newest.current(changed)),
    });
    return () => view.destroy();
  }, [text, label]);
  return <div ref={host} className={styles.editor} data-unfinished={isUnfinished || undefined} />;
}

function stateOf(text: string, label: string, onChange: (text: string) => void): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      bracketMatching(),
      json(),
      syntaxHighlighting(COLOURS),
      highlightSpecialChars({ addSpecialChars: /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u, render: chip }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true" }),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
      THEME,
    ],
  });
}

/** As everywhere else: what would not be seen is spelled out. */
function chip(code: number): HTMLElement {
  const [piece] = pieces(String.fromCodePoint(code));
  const element = document.createElement("span");
  element.className = "cm-specialChar";
  element.textContent = piece?.type === "hidden" ? `‹${[piece.code, piece.name].filter(Boolean).join(" ")}›` : "‹?›";
  return element;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--bg)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--mono)", lineHeight: "20px", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", borderRight: "1px solid var(--hairline)" },
  ".cm-specialChar": { color: "var(--warn)", border: "1px solid var(--warn)", borderRadius: "4px", fontSize: "12px" },
  ".cm-matchingBracket": { outline: "1px solid var(--line)" },
});
