"""Previews of changes of files, and of the file tools that others ship: those of deepagents' backends, of LangChain's
file management, and the text editor and the memory that LangChain has for Claude.

None of them is imported here: a tool of theirs is there only where its package is.
"""

import hashlib
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from interlock.agents._langgraph import find_in_tool
from interlock.domain.preview import After, FilePreview, NoPreview, Preview, change

_DEEP = ("write_file", "edit_file", "delete")
_UNKNOWN = "the files of the graph that asks are not known here"
LONGEST = 1024 * 1024
_COMMUNITY = "langchain_community.tools.file_management."
_CLAUDE = "langchain_anthropic.middleware.anthropic_tools"
_CLAUDE_WRITES = ("create", "str_replace", "insert", "delete")

Previewer = Callable[[Mapping[str, Any], Mapping[str, Any]], Preview | None]


def previewer_of(tool: BaseTool) -> Previewer | None:
    if type(tool).__module__.startswith(_COMMUNITY):
        return partial(_community, tool)
    claude: Any = sys.modules.get(_CLAUDE)
    if claude is not None and tool.name in (claude.TEXT_EDITOR_TOOL_NAME, claude.MEMORY_TOOL_NAME):
        return _claude_previewer(claude, tool)
    deep: Any = sys.modules.get("deepagents.middleware.filesystem")
    if deep is None or tool.name not in _DEEP:
        return None
    middleware: Any = next(find_in_tool(tool, deep.FilesystemMiddleware), None)
    return None if middleware is None else partial(_deepagents, middleware.backend, tool.name)


def _deepagents(backend: Any, tool: str, args: Mapping[str, Any], state: Mapping[str, Any]) -> Preview | None:
    from deepagents.backends import CompositeBackend, FilesystemBackend, StateBackend
    from deepagents.backends.utils import file_data_to_string, validate_path

    path = name = validate_path(str(args["file_path"]))
    own: Any = backend
    while isinstance(backend, CompositeBackend):
        backend, path = own._get_backend_and_key(path)
        own = backend
    after = _deep_after(tool, args)
    if isinstance(backend, StateBackend):
        if not state:
            return NoPreview(_UNKNOWN)
        files: Mapping[str, Any] = state.get("files") or {}
        before = file_data_to_string(files[path]).encode() if path in files else None
        return change(name, before, after, is_deleted=tool == "delete", on_disk=False)
    if isinstance(backend, FilesystemBackend):
        return file(own._resolve_path(path), after, name=name)
    return NoPreview(f"its files are kept by {type(backend).__name__}")


def _deep_after(tool: str, args: Mapping[str, Any]) -> Any:
    from deepagents.backends.utils import perform_string_replacement

    if tool != "edit_file":
        return args["content"] if tool == "write_file" else None

    def edit(before: str) -> str | None:
        whole, old, new = (_unix(one) for one in (before, args["old_string"], args["new_string"]))
        done = perform_string_replacement(whole, old, new, bool(args.get("replace_all", False)))
        return None if isinstance(done, str) else done[0]

    return edit


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _community(tool: Any, args: Mapping[str, Any], _: Mapping[str, Any]) -> Preview | None:
    if tool.name not in ("write_file", "file_delete"):
        return None
    path = str(args["file_path"])
    after: Any = args["text"] if tool.name == "write_file" else None
    where = tool.get_relative_path(path)
    if tool.name == "write_file" and args.get("append") and where.exists():
        return file(where, lambda before: f"{before}{after}", name=path)
    return file(where, after, name=path)


def _claude_previewer(claude: Any, tool: BaseTool) -> Previewer | None:
    for kind, preview in (
        (claude._FilesystemClaudeFileToolMiddleware, _claude_on_disk),
        (claude._StateClaudeFileToolMiddleware, _claude_in_state),
    ):
        for editor in find_in_tool(tool, kind):
            return partial(preview, editor)
    return None


def _claude_on_disk(editor: Any, args: Mapping[str, Any], _: Mapping[str, Any]) -> Preview | None:
    if args["command"] not in _CLAUDE_WRITES:
        return None
    path = str(args["path"])
    return file(editor._validate_and_resolve_path(path), _claude_after(args, on_disk=True), name=path)


def _claude_in_state(editor: Any, args: Mapping[str, Any], state: Mapping[str, Any]) -> Preview | None:
    if args["command"] not in _CLAUDE_WRITES:
        return None
    if not state:
        return NoPreview(_UNKNOWN)
    where = sys.modules[_CLAUDE]._validate_path(str(args["path"]), allowed_prefixes=editor.allowed_prefixes)
    files: Mapping[str, Any] = state.get(editor.state_key) or {}
    kept: Any = files.get(where)
    before = None if kept is None else "\n".join(kept["content"]).encode()
    after = _claude_after(args, on_disk=False)
    return change(where, before, after, is_deleted=after is None, on_disk=False)


def _claude_after(args: Mapping[str, Any], *, on_disk: bool) -> After:
    if args["command"] == "delete":
        return None
    if args["command"] == "create":
        # The tool ends the file that it writes with a line break of its own.
        return f"{args['file_text']}\n" if on_disk else str(args["file_text"])

    def replace(before: str) -> str | None:
        whole, old = _unix(before), args["old_str"]
        return whole.replace(old, args.get("new_str") or "", 1) if old in whole else None

    def insert(before: str) -> str:
        lines = _unix(before).split("\n")
        end = lines[-1:] if on_disk and lines[-1] == "" else []
        kept, at = lines[: len(lines) - len(end)], args["insert_line"]
        return "\n".join([*kept[:at], *args["new_str"].split("\n"), *kept[at:], *end])

    return replace if args["command"] == "str_replace" else insert


def file(path: str | Path, after: After, *, name: str | None = None) -> FilePreview:
    """A file that the call would write: its whole new text, or a function from its present text to the new one.

    With None it is deleted. `name` is what people see in place of the path.
    """
    where, is_deleted = Path(path), after is None
    display_path = str(path) if name is None else name
    try:
        status = where.stat()
    except FileNotFoundError:
        return change(display_path, None, after, is_deleted=is_deleted)
    if not where.is_file():
        raise ValueError(f"{display_path} is no file")
    modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
    if status.st_size > LONGEST:
        with where.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        whole = after if isinstance(after, str) else None
        return FilePreview(display_path, True, None, digest, modified_at, whole, is_deleted)
    return change(display_path, where.read_bytes(), after, modified_at=modified_at, is_deleted=is_deleted)


def diff(name: str, before: str | None, after: str | None) -> FilePreview:
    """The change of something that is no file on this machine; None: it does not exist before, or not after."""
    data = None if before is None else before.encode()
    return change(name, data, after, is_deleted=after is None, on_disk=False)
