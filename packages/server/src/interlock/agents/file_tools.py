"""Previews of the file tools that others ship: those of deepagents' backends, and of LangChain's file management.

Neither is imported here: a tool of theirs is there only where its package is.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool

from interlock.agents._langgraph import held_by
from interlock.agents.file_change import file
from interlock.domain.preview import NoPreview, Preview, change

_DEEP = ("write_file", "edit_file", "delete")
_COMMUNITY = "langchain_community.tools.file_management."

Previewer = Callable[[Mapping[str, Any], Mapping[str, Any]], Preview | None]


def previewer_of(tool: BaseTool) -> Previewer | None:
    if type(tool).__module__.startswith(_COMMUNITY):
        return partial(_community, tool)
    deep: Any = sys.modules.get("deepagents.middleware.filesystem")
    if deep is None or tool.name not in _DEEP:
        return None
    middleware: Any = next(held_by(tool, deep.FilesystemMiddleware), None)
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

    def edited(before: str) -> str | None:
        whole, old, new = (_unix(one) for one in (before, args["old_string"], args["new_string"]))
        done = perform_string_replacement(whole, old, new, bool(args.get("replace_all", False)))
        return None if isinstance(done, str) else done[0]

    return edited


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
