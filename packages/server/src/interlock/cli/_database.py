"""What the commands share that work on the server's database, also while the server runs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.services.core import Core

T = TypeVar("T")
Data = Annotated[Path | None, typer.Option(help="The server's data folder. [default: .interlock]")]
Database = Annotated[str | None, typer.Option(help="The server's database, if it is not in --data.")]


def run(data: Path | None, database: str | None, work: "Callable[[Core], Awaitable[T]]", *, reads: bool = False) -> T:
    """Do the work on the core over that database, migrated, without agents and without a runner.

    One that is not there yet is made, but not for those that only read: there is nothing in it to look for.
    """
    import asyncio

    from interlock.bootstrap import opened
    from interlock.config import load

    config = load({"data": data, "database": database})
    if reads:
        require_database(config)

    async def run() -> T:
        async with opened(config) as (_, core):
            return await work(core)

    return asyncio.run(run())


def require_database(config: "Config") -> None:
    """Nothing is made where somebody mistyped a folder."""
    from interlock.domain.errors import InvalidInput
    from interlock.storage.database import sqlite_file

    file = sqlite_file(config.database_url)
    if file is not None and not file.exists():
        raise InvalidInput(f"there is no database {file}: is --data right? `interlock serve` makes one")
