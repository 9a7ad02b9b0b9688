"""Pieces and sections as Textual draws them. Nothing here is ever read as markup."""

from collections.abc import Iterable, Mapping

from textual.content import Content, Span

from interlock_client.cli.terminal.revealing import Line, Piece, Style
from interlock_client.cli.terminal.sections import Section

_STYLES: Mapping[Style, str] = {
    "hidden": "reverse",
    "name": "bold",
    "quiet": "dim",
    "added": "$text-success",
    "removed": "$text-error",
}
AGENT_RULE = "║ "


def content(pieces: Iterable[Piece]) -> Content:
    text, spans = "", list[Span]()
    for piece in pieces:
        if style := _STYLES.get(piece.style):
            spans.append(Span(len(text), len(text) + len(piece.text), style))
        text += piece.text
    return Content(text, spans)


def join_lines(lines: Iterable[Line]) -> Content:
    return Content("\n").join([content(line) for line in lines])


def section(of: Section) -> Content:
    rule = AGENT_RULE if of.by_agent else ""
    heading = (Piece(f"{rule}{of.heading}", "name"),)
    return join_lines([heading, *((Piece(rule, "quiet"), *line) for line in of.lines)])
