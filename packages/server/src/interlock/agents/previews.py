"""Previews of calls: what a tool says that it would do. They are for people to see, and never in the way of an ask.

A tool is given one with `with_preview`; the file tools of deepagents and LangChain have one by themselves
(`file_tools`).
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

from langchain_core.tools import BaseTool

from interlock.agents import file_tools
from interlock.agents.file_tools import diff, file
from interlock.domain.preview import FilePreview, NoPreview, Preview, Table, Text

__all__ = ["diff", "file"]

METADATA = "interlock_preview"
SECONDS = 3.0
"""A preview that takes longer is left out."""
MOST_AT_ONCE = 32
"""So many may be under way: one that hangs for ever keeps its thread."""

Function = Callable[[Mapping[str, Any]], Any]
Previewer = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
"""From the arguments of a call, and the state of its graph, to what it would do."""
Tool = TypeVar("Tool", bound=BaseTool)
T = TypeVar("T")

_under_way = threading.BoundedSemaphore(MOST_AT_ONCE)


def with_preview(tool: Tool, function: Function) -> Tool:
    """The tool, which from now on is asked about with what `function` makes of the arguments of a call.

    It gives `file`, `diff`, `text`, `table`, or None where there is nothing to show; it may be async. It must change
    nothing: it is called when a person is asked, when they look, and before the call runs.
    """
    tool.metadata = {**(tool.metadata or {}), METADATA: function}
    return tool


def text(content: str) -> Text:
    return Text(content)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    return Table(columns, list(rows))


def previewer_of(tool: BaseTool) -> Previewer | None:
    function = cast("Function | None", (tool.metadata or {}).get(METADATA))
    if function is not None:
        return partial(_own, function)
    return file_tools.previewer_of(tool)


def _own(function: Function, args: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    return function(args)


def compute(previewer: Previewer, args: Mapping[str, Any], state: Mapping[str, Any]) -> Preview | None:
    """What it gives; to be called from a thread that may be lost."""
    found = previewer(dict(args), state)
    if inspect.iscoroutine(found):
        found = asyncio.run(found)
    known = found is None or isinstance(found, FilePreview | Text | Table | NoPreview)
    return cast("Preview | None", found) if known else NoPreview(f"the preview is a {type(found).__name__}")


async def in_time(work: Callable[[], T]) -> T | NoPreview:
    """Do the work in a thread of its own: what takes too long, or goes wrong, is a reason to show."""
    if not _under_way.acquire(blocking=False):
        return NoPreview("too many previews are under way")
    done: Future[T | NoPreview] = Future()
    threading.Thread(target=_do, args=(work, done), daemon=True, name="interlock-preview").start()
    try:
        return await asyncio.wait_for(asyncio.wrap_future(done), SECONDS)
    except TimeoutError:
        return NoPreview(f"it took longer than {SECONDS:g} s")


def _do(work: Callable[[], T], done: "Future[T | NoPreview]") -> None:
    try:
        result: T | NoPreview = work()
    except BaseException as error:
        result = NoPreview(f"{type(error).__name__}: {error}")
    finally:
        _under_way.release()
    # Nobody may wait for it any more.
    with suppress(InvalidStateError):
        done.set_result(result)
