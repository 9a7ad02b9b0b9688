"""Agents that write files with tools that are not the demo agent's; for servers only. They read their messages as the
puppet does.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from deepagents.backends import FilesystemBackend
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_anthropic.middleware import FilesystemClaudeTextEditorMiddleware
from langchain_core.tools import StructuredTool

from interlock import preview
from interlock.langchain import InterlockMiddleware
from tests.support.puppet import WORKSPACE
from tests.support.puppet_agent import PuppetModel


def _file(name: str) -> Path:
    return Path(os.environ[WORKSPACE]) / name


def deep() -> Any:
    """With the file tools of deepagents, and its own way to have them approved."""
    return cast("Any", create_deep_agent)(
        model=PuppetModel(),
        backend=FilesystemBackend(root_dir=os.environ[WORKSPACE], virtual_mode=True),
        interrupt_on={"write_file": True, "edit_file": True},
    )


def claude() -> Any:
    """With LangChain's text editor for Claude."""
    editor = FilesystemClaudeTextEditorMiddleware(root_path=os.environ[WORKSPACE])
    gate = InterlockMiddleware(interrupt_on={"str_replace_based_edit_tool": True})
    return create_agent(PuppetModel(), middleware=[editor, gate])


def _save(name: str, content: str) -> str:
    """Save a page of the handbook."""
    _file(name).write_text(content)
    return f"saved {name}"


def _saved(args: Mapping[str, Any]) -> Any:
    return preview.file(_file(args["name"]), args["content"], name=args["name"])


def own() -> Any:
    """With a tool that only it has, which says which file a call of it would write."""
    return create_agent(
        PuppetModel(),
        tools=[preview.with_preview(StructuredTool.from_function(_save, name="save"), _saved)],
        middleware=[InterlockMiddleware(interrupt_on={"save": True})],
    )
