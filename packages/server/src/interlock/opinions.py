"""Second opinions by a function of the operator's, which asks whatever model they trust."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from interlock.domain.errors import InvalidInput
from interlock.domain.opinion import OpinionCall

AT_ONCE = 4
"""Whoever asks beyond that waits; that counts towards the time that an opinion may take."""
Advise = Callable[[Mapping[str, str]], Awaitable[object]]


class OwnAdviser:
    def __init__(self, name: str, advise: Advise) -> None:
        self.name = name
        self._advise = advise
        self._places = asyncio.Semaphore(AT_ONCE)

    async def opinion(self, call: OpinionCall) -> object:
        async with self._places:
            return await self._advise({"tool": call.tool, "arguments": call.arguments, "risk": call.risk})


def load_adviser(spec: str, load_module: Callable[[str], ModuleType]) -> OwnAdviser:
    """From `package.module:attr` or `path/to/file.py:attr`; it is not called before somebody asks for an opinion."""
    where, _, attr = spec.rpartition(":")
    try:
        module = load_module(where)
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"--second-opinion: {where} cannot be loaded: {type(error).__name__}: {error}") from error
    found: Any = getattr(module, attr, None)
    if not inspect.iscoroutinefunction(found):
        raise InvalidInput(f"--second-opinion: {attr} of {where} must be an async function that takes the call")
    # Where a file lies on the server is nothing for its reviewers.
    return OwnAdviser(f"{Path(where).stem if where.endswith('.py') else where}:{attr}", cast("Advise", found))
