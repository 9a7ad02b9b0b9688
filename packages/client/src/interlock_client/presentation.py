"""How the calls of coding agents are shown: as changes of files, or as a text in Markdown.

One row for each tool. A call that does not have the shape that its row expects is shown as any other. What is shown
is made of the arguments alone, and names those that it stands for: the others are shown beside it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, cast

Act = Literal["edit", "write", "add", "delete", "replace_cell", "insert_cell", "delete_cell"]


@dataclass(frozen=True, slots=True)
class Change:
    """One place of one file."""

    path: str
    act: Act
    before: str = ""
    """Of an edit: the text that is replaced."""
    after: str = ""
    at: str = ""
    """Where in the file, in the words of a patch; in a notebook the cell, which a new one comes after."""
    moved_to: str | None = None
    everywhere: bool = False
    """Whether every occurrence is replaced, and not only one."""


@dataclass(frozen=True, slots=True)
class Presentation:
    shows: tuple[str, ...]
    """The arguments that it stands for."""
    changes: tuple[Change, ...] = ()
    markdown: str = ""


def presentation(tool: str, args: Mapping[str, Any]) -> Presentation | None:
    """None: the call is shown by its arguments."""
    read = _TOOLS.get(tool)
    return read(args) if read else None


@dataclass(frozen=True, slots=True)
class _Names:
    """How a tool calls its arguments."""

    path: str
    before: str
    after: str
    everywhere: str

    def replacement(self, path: Any, given: Mapping[str, Any]) -> Change | None:
        before, after = given.get(self.before), given.get(self.after)
        everywhere = given.get(self.everywhere, False)
        if (
            isinstance(path, str)
            and isinstance(before, str)
            and isinstance(after, str)
            and isinstance(everywhere, bool)
        ):
            return Change(path, "edit", before, after, everywhere=everywhere)
        return None

    def edit(self, args: Mapping[str, Any]) -> Presentation | None:
        change = self.replacement(args.get(self.path), args)
        return change and Presentation((self.path, self.before, self.after, self.everywhere), (change,))

    def edits(self, args: Mapping[str, Any]) -> Presentation | None:
        given = _objects(args.get("edits"), {self.before, self.after, self.everywhere})
        changes = [self.replacement(args.get(self.path), one) for one in given]
        found = tuple(change for change in changes if change)
        return Presentation((self.path, "edits"), found) if found and len(found) == len(changes) else None

    def write(self, args: Mapping[str, Any]) -> Presentation | None:
        path, content = args.get(self.path), args.get("content")
        if not isinstance(path, str) or not isinstance(content, str):
            return None
        return Presentation((self.path, "content"), (Change(path, "write", after=content),))


_SNAKE = _Names("file_path", "old_string", "new_string", "replace_all")
_CAMEL = _Names("filePath", "oldString", "newString", "replaceAll")
_DIFF = {"type", "path", "oldText", "newText"}


def _differences(args: Mapping[str, Any]) -> Presentation | None:
    """Of the Agent Client Protocol: what a call says that it changes, where its arguments are not told."""
    found: list[Change] = []
    for one in _objects(args.get("content"), _DIFF):
        path, before, after = one.get("path"), one.get("oldText"), one.get("newText")
        if one.get("type") != "diff" or not isinstance(path, str) or not isinstance(after, str):
            return None
        if isinstance(before, str):
            found.append(Change(path, "edit", before, after))
        elif before is None:
            found.append(Change(path, "add", after=after))
        else:
            return None
    return Presentation(("content",), tuple(found)) if found else None


def _any_edit(args: Mapping[str, Any]) -> Presentation | None:
    """Named by what it does, and called as the agent behind it calls its tools."""
    ways = (_SNAKE.edit, _CAMEL.edit, _SNAKE.edits, _SNAKE.write, _CAMEL.write, _differences)
    return next((found for way in ways if (found := way(args))), None)


_CELLS: Mapping[str, Act] = {"replace": "replace_cell", "insert": "insert_cell", "delete": "delete_cell"}


def _cell(args: Mapping[str, Any]) -> Presentation | None:
    """One cell of a notebook; what it holds now is not told."""
    act = _CELLS.get(str(args.get("edit_mode", "replace")))
    path, cell = args.get("notebook_path"), args.get("cell_id", "")
    source = args.get("new_source", "" if act == "delete_cell" else None)
    if act is None or not isinstance(path, str) or not isinstance(cell, str) or not isinstance(source, str):
        return None
    shows = ("notebook_path", "cell_id", "edit_mode")
    if act == "delete_cell":
        return Presentation(shows, (Change(path, act, at=cell),))
    return Presentation((*shows, "new_source"), (Change(path, act, after=source, at=cell),))


def _patch(args: Mapping[str, Any]) -> Presentation | None:
    command = args.get("command")
    changes = _parse_patch(command) if isinstance(command, str) else None
    return Presentation(("command",), tuple(changes)) if changes else None


def _plan(args: Mapping[str, Any]) -> Presentation | None:
    plan = args.get("plan")
    return Presentation(("plan",), markdown=plan) if isinstance(plan, str) and plan.strip() else None


_TOOLS: Mapping[str, Callable[[Mapping[str, Any]], Presentation | None]] = {
    # Claude Code
    "Edit": _SNAKE.edit,
    "MultiEdit": _SNAKE.edits,
    "Write": _SNAKE.write,
    "NotebookEdit": _cell,
    "ExitPlanMode": _plan,
    # Codex
    "apply_patch": _patch,
    # Gemini CLI
    "replace": _SNAKE.edit,
    "write_file": _SNAKE.write,
    # OpenCode, and agents behind an editor
    "edit": _any_edit,
}


def _objects(value: Any, names: Set[str]) -> list[Mapping[str, Any]]:
    """The objects of a list; none where one of them is something else, or has more than these names."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    found = [cast("Mapping[str, Any]", one) for one in items if isinstance(one, dict)]
    return found if len(found) == len(items) and all(one.keys() <= names for one in found) else []


_BEGIN, _END, _END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
_FILES: Mapping[str, Act] = {"*** Add File: ": "add", "*** Update File: ": "edit", "*** Delete File: ": "delete"}
_MOVE, _PLACE = "*** Move to: ", "@@"


def _parse_patch(text: str) -> list[Change] | None:
    """The changes of a patch in Codex's format; None where a line is not understood."""
    lines = text.strip("\n").split("\n")
    if len(lines) < 2 or lines[0] != _BEGIN or lines[-1] != _END:
        return None
    found: list[Change] = []
    for header, body in _files(lines[1:-1]):
        changes = _file(header, body)
        if changes is None:
            return None
        found += changes
    return found


def _files(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    header, body = "", list[str]()
    for line in lines:
        if line.startswith(tuple(_FILES)):
            if header or body:
                yield header, body
            header, body = line, []
        else:
            body.append(line)
    if header or body:
        yield header, body


def _file(header: str, body: list[str]) -> list[Change] | None:
    prefix = next((one for one in _FILES if header.startswith(one)), None)
    if prefix is None:
        return None
    path, act = header.removeprefix(prefix), _FILES[prefix]
    if act == "delete":
        return None if body else [Change(path, act)]
    if act == "add":
        is_plain = all(line.startswith("+") for line in body)
        return [Change(path, act, after="".join(f"{line[1:]}\n" for line in body))] if is_plain else None
    moved_to = body[0].removeprefix(_MOVE) if body and body[0].startswith(_MOVE) else None
    hunks = _hunks(body if moved_to is None else body[1:])
    if hunks is None:
        return None
    if not hunks and moved_to is not None:
        return [Change(path, act, moved_to=moved_to)]
    return [Change(path, act, *_sides(lines), at=at, moved_to=moved_to) for at, lines in hunks]


def _hunks(body: Sequence[str]) -> list[tuple[str, list[str]]] | None:
    found: list[tuple[str, list[str]]] = []
    for line in body:
        if line.startswith(_PLACE):
            at = line.removeprefix(_PLACE).strip()
            # Several lines in a row name one place.
            if found and not found[-1][1]:
                found[-1] = (f"{found[-1][0]}\n{at}".strip(), [])
            else:
                found.append((at, []))
        elif line == _END_OF_FILE and found and found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{_END_OF_FILE}".strip(), found[-1][1])
        elif line == "" or line[0] in " +-":
            if not found:
                found.append(("", []))
            found[-1][1].append(line or " ")
        else:
            return None
    return found if all(lines for _, lines in found) else None


def _sides(lines: Sequence[str]) -> tuple[str, str]:
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    return before, after
