"""Tools that note what they did, so that a test can count it."""

import asyncio
from collections import Counter
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from tests.runners.stage import SECONDS


class Deeds:
    """What tools really did, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def note(self, deed: str) -> None:
        self.done.append(deed)

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.done)

    def tool(self, name: str, *, metadata: dict[str, Any] | None = None) -> BaseTool:
        """A tool that takes a path and notes `name path`."""

        def do(path: str) -> str:
            self.note(f"{name} {path}")
            return f"{name} {path}: ok"

        return StructuredTool.from_function(do, name=name, description=f"{name} a path", metadata=metadata)


class Gate:
    """A place in a tool where it stops until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self.times = 0

    async def stop(self, times: int = 1) -> None:
        """Stop here, the first so many times."""
        self.times += 1
        if self.times <= times:
            self.reached.set()
            await self.open.wait()

    async def until_reached(self) -> None:
        async with asyncio.timeout(SECONDS):
            await self.reached.wait()
