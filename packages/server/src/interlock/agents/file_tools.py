"""Previews of changes of files, and of the file tools that others ship: those of deepagents' backends, and of
LangChain's file management.

Neither of the two is imported here: a tool of theirs is there only where its package is.
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
LONGEST = 1024 * 1024
_COMMUNITY = "langchain_community.tools.file_management."

Previewer = Callable[[Mapping[str, Any], Mapping[str, Any]], Preview | None]


def previewer_of(tool: BaseTool) -> Previewer | None:
    if type(tool).__module__.startswith(_COMMUNITY):
        return partial(_community, tool)
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
            return NoPreview("the files of the graph that asks are not known here")
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
