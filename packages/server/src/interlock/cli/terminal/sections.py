"""A request laid out for reading: what will run first, then what the agent says of it, apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from interlock.cli.terminal.asked import Waiting, is_dangerous
from interlock.cli.terminal.revealing import Line, Piece, json_lines, line, lines
from interlock.cli.terminal.wording import risk

BY_AGENT = "WRITTEN BY THE AGENT, NOT CHECKED"


@dataclass(frozen=True, slots=True)
class Section:
    heading: str
    lines: tuple[Line, ...]
    by_agent: bool = False


def sections(waiting: Waiting) -> list[Section]:
    what = [_what_will_run(waiting)] if waiting.kind == "approval" else []
    said = tuple(_said(waiting))
    return [*what, *([Section(BY_AGENT, said, by_agent=True)] if said else [])]


def _what_will_run(waiting: Waiting) -> Section:
    body = [one for name, value in waiting.args.items() for one in _argument(name, value)]
    hidden = sum(piece.style == "hidden" for one in body for piece in one)
    count = len(waiting.args)
    end = f"end · {count} argument{'s' if count != 1 else ''}"
    if hidden:
        end += f" · {hidden} place{'s' if hidden != 1 else ''} with hidden characters, shown reversed"
    tool = (Piece("tool ", "quiet"), *line(waiting.tool))
    return Section(f"{risk(waiting)} · WHAT WILL RUN", (tool, *body, (Piece(end, "quiet"),)))


def _argument(name: str, value: Any) -> Iterator[Line]:
    named = tuple(Piece(piece.text, piece.style or "name") for piece in line(name))
    if isinstance(value, str) and "\n" in value:
        count = value.count("\n") + 1
        yield (*named, Piece(f"  a text of {count} lines:", "quiet"))
        for one in lines(value):
            yield (Piece("│ ", "quiet"), *one)
        return
    first, *rest = json_lines(value)
    yield (*named, Piece("  "), *first)
    for one in rest:
        yield (Piece("  "), *one)


def _said(waiting: Waiting) -> Iterator[Line]:
    yield from _words(waiting)
    if "details" in waiting.data:
        yield (Piece("hands over:", "quiet"),)
        yield from _handed_over(waiting.data["details"])


def _handed_over(details: Any) -> Iterator[Line]:
    """What came with a graph's interrupt, name by name where it has names."""
    if not isinstance(details, dict):
        yield from json_lines(details)
        return
    for name, value in cast("dict[str, Any]", details).items():
        yield from _argument(name, value)


def _words(waiting: Waiting) -> Iterator[Line]:
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


def _plain_action(waiting: Waiting) -> str:
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
    named = (Piece("  ["), *line(key), Piece("]")) if key != label else ()
    return (*sign, *line(label), *named)
