"""A request laid out for reading: what will run first, then what the agent says of it, apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, cast

from interlock_client.cli.terminal.open_request import OpenRequest, is_dangerous
from interlock_client.cli.terminal.revealing import Line, Piece, Style, json_lines, line, lines
from interlock_client.cli.terminal.wording import risk
from interlock_client.presentation import Change, presentation
from interlock_client.visible import visible

MOST_COMPARED = 2_000
"""Lines; with more it takes seconds to find what they have in common."""
BY_AGENT = "WRITTEN BY THE AGENT, NOT CHECKED"


@dataclass(frozen=True, slots=True)
class Section:
    heading: str
    lines: tuple[Line, ...]
    by_agent: bool = False


def sections(waiting: OpenRequest) -> list[Section]:
    what = [_call_section(waiting)] if waiting.kind == "approval" else []
    agent_text = tuple(_agent_text(waiting))
    if preview := waiting.data.get("preview"):
        preview_lines = (one for text in _preview(preview) for one in lines(str(text)))
        what.append(Section(f"WHAT IT WOULD DO{_about(preview)}", tuple(preview_lines)))
    return [*what, *([Section(BY_AGENT, agent_text, by_agent=True)] if agent_text else [])]


def _preview(preview: Mapping[str, Any]) -> Iterator[str]:
    """A preview of a request's body, as lines of text."""
    match preview["type"]:
        case "none":
            yield f"no preview: {preview['reason']}"
        case "table":
            rows = [preview["columns"], *preview["rows"]]
            yield from (" | ".join(str(cell) for cell in row) for row in rows)
        case _:
            yield from preview["lines"]
    if preview.get("left_out"):
        yield f"… {preview['left_out']} more"


def _about(preview: Mapping[str, Any]) -> str:
    return f" TO {visible(str(preview['path']), keep='')}" if "path" in preview else ""


def _call_section(waiting: OpenRequest) -> Section:
    presented = presentation(waiting.tool, waiting.args)
    shown = presented.shows if presented and presented.changes else ()
    body = [one for change in (presented.changes if presented else ()) for one in _change(change)]
    body += [one for name, value in waiting.args.items() if name not in shown for one in _argument(name, value)]
    hidden = sum(piece.style == "hidden" for one in body for piece in one)
    count = len(waiting.args)
    end = f"end · {count} argument{'s' if count != 1 else ''}"
    if hidden:
        end += f" · {hidden} place{'s' if hidden != 1 else ''} with hidden characters, shown reversed"
    tool = (Piece("tool ", "quiet"), *line(waiting.tool))
    return Section(f"{risk(waiting)} · WHAT WILL RUN", (tool, *body, (Piece(end, "quiet"),)))


_ACTS = {
    **{"edit": "edits", "write": "writes the whole of", "add": "adds", "delete": "deletes"},
    **{"replace_cell": "replaces a cell of", "insert_cell": "adds a cell to", "delete_cell": "deletes a cell of"},
}


def _change(change: Change) -> Iterator[Line]:
    """What a coding agent would change in a file: every line of it, with those around."""
    moved = () if change.moved_to is None else (Piece(" and moves it to ", "quiet"), *line(change.moved_to))
    everywhere = (Piece(", every occurrence", "quiet"),) if change.everywhere else ()
    yield (Piece(f"{_ACTS[change.act]} ", "quiet"), *line(change.path), *moved, *everywhere)
    for place in change.at.splitlines():
        yield (Piece("│ after " if change.act == "insert_cell" else "│ in ", "quiet"), *line(place))
    before, after = (text.split("\n") if text else [] for text in (change.before, change.after))
    # As in a file, the last break begins no further line, unless only one of them has it.
    if before[-1:] in ([], [""]) and after[-1:] in ([], [""]):
        before, after = before[:-1], after[:-1]
    for same, old, new in _rows(before, after):
        yield from _with_sign("│   ", "quiet", same)
        yield from _with_sign("│ - ", "removed", old)
        yield from _with_sign("│ + ", "added", new)


def _with_sign(sign: str, style: Style, texts: Sequence[str]) -> Iterator[Line]:
    if texts:
        yield from ((Piece(sign, style), *one) for one in lines("\n".join(texts)))


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    if len(before) + len(after) > MOST_COMPARED:
        yield (), before, after
        return
    for tag, at, end, new_at, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        yield (before[at:end], (), ()) if tag == "equal" else ((), before[at:end], after[new_at:new_end])


def _argument(name: str, value: Any) -> Iterator[Line]:
    pieces = tuple(Piece(piece.text, piece.style or "name") for piece in line(name))
    if isinstance(value, str) and "\n" in value:
        count = value.count("\n") + 1
        yield (*pieces, Piece(f"  a text of {count} lines:", "quiet"))
        for one in lines(value):
            yield (Piece("│ ", "quiet"), *one)
        return
    first, *rest = json_lines(value)
    yield (*pieces, Piece("  "), *first)
    for one in rest:
        yield (Piece("  "), *one)


def _agent_text(waiting: OpenRequest) -> Iterator[Line]:
    yield from _text_lines(waiting)
    if "details" in waiting.data:
        yield (Piece("passed on by the agent:", "quiet"),)
        yield from _interrupt_details(waiting.data["details"])


def _interrupt_details(details: Any) -> Iterator[Line]:
    """What came with a graph's interrupt, name by name where it has names."""
    if not isinstance(details, dict):
        yield from json_lines(details)
        return
    for name, value in cast("dict[str, Any]", details).items():
        yield from _argument(name, value)


def _text_lines(waiting: OpenRequest) -> Iterator[Line]:
    data = waiting.data
    if waiting.kind == "approval":
        display = str(data.get("tool_display_name") or "")
        if display and display != waiting.tool:
            yield (Piece("calls it ", "quiet"), *line(display))
        action = str(data.get("action") or "")
        if action and action != _plain_action(waiting):
            first, *rest = lines(action)
            yield (Piece("describes it as ", "quiet"), *first)
            yield from rest
        yield from _text(data.get("description"))
    elif waiting.kind == "clarification":
        yield from _text(data.get("title") if "details" in data else data.get("question"))
    elif waiting.kind == "decision":
        yield from _decision(data)
    elif waiting.kind == "env_var":
        names = [str(field["name"]) for field in data["fields"]]
        yield (
            Piece(f"asks for {len(names)} value{'s' if len(names) != 1 else ''}: ", "quiet"),
            *line(", ".join(names)),
        )
    else:
        yield from _text(data.get("title"))
        yield (Piece(f"{len(data['questions'])} questions", "quiet"),)


def _plain_action(waiting: OpenRequest) -> str:
    """As the server spells an action that nobody has described."""
    return " ".join([waiting.tool, *(str(value) for value in waiting.args.values())]).strip()


def _decision(data: Mapping[str, Any]) -> Iterator[Line]:
    yield from _text(data.get("title"))
    yield from _text(data.get("description"))
    for one in data.get("risks") or ():
        yield (Piece("risk: ", "quiet"), *line(str(one)))


def _text(text: Any) -> Iterator[Line]:
    if text:
        yield from lines(str(text))


def option_line(option: Mapping[str, Any]) -> Line:
    """One option of a decision: its label, its key where that says something else, and a sign where it is dangerous."""
    sign = (Piece("▲ "),) if is_dangerous(option) else ()
    label, key = str(option["label"]), str(option["key"])
    key_pieces = (Piece("  ["), *line(key), Piece("]")) if key != label else ()
    return (*sign, *line(label), *key_pieces)
