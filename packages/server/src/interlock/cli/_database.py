"""What the commands share that work on the server's database, also while the server runs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from interlock.services.core import Core

T = TypeVar("T")
Data = Annotated[Path | None, typer.Option(help="The server's data folder. [default: .interlock]")]
Database = Annotated[str | None, typer.Option(help="The server's database, if it is not in --data.")]


def run(data: Path | None, database: str | None, work: "Callable[[Core], Awaitable[T]]") -> T:
    """Do the work on the core over that database, migrated, without agents and without a runner."""
    import asyncio

    from interlock.bootstrap import opened
    from interlock.config import load

    config = load({"data": data, "database": database})

    async def run() -> T:
        async with opened(config) as (_, core):
            return await work(core)

    return asyncio.run(run())
