"""What the commands share that work on the server's database, also while the server runs."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.services.core import Core

T = TypeVar("T")
Data = Annotated[str | None, typer.Option(metavar="<path>", help="The server's data folder. [default: .interlock]")]
Database = Annotated[str | None, typer.Option(help="Database URL of the server, if not in --data.")]


def run(data: str | None, database: str | None, work: "Callable[[Core], Awaitable[T]]", *, makes: bool = False) -> T:
    """Do the work on the core over that database, migrated, without agents and without a runner.

    One that is not there yet is made for those only that may come first, and they say so: the folder may be mistyped.
    """
    import asyncio

    from interlock.bootstrap import open_core
    from interlock.config import load

    config = load({"data": data, "database": database})
    is_there = has_database(config)
    if not makes:
        require_database(config)

    async def run() -> T:
        async with open_core(config) as (_, core):
            return await work(core)

    done = asyncio.run(run())
    if not is_there:
        announce_new(config)
    return done


def announce_new(config: "Config") -> None:
    from interlock_client.visible import one_line

    typer.echo(f"interlock: there was no database in {one_line(str(config.data))}; a new one was made", err=True)


def has_database(config: "Config") -> bool:
    """Whether there is a file; of a server of databases it is not known here."""
    from interlock.storage.database import sqlite_file

    file = sqlite_file(config.database_url)
    return file is None or file.exists()


def require_database(config: "Config") -> None:
    """Nothing is made where somebody mistyped a folder."""
    from interlock.domain.errors import InvalidInput
    from interlock.storage.database import sqlite_file

    if not has_database(config):
        file = sqlite_file(config.database_url)
        raise InvalidInput(f"there is no database {file}: is --data right? `interlock serve` makes one")
