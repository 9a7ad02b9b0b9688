"""`interlock secrets`: the keys behind what is sealed."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.storage.key_rotation import RotationReport

app = typer.Typer(help="Rotate the keys that seal secret values.", no_args_is_help=True, rich_markup_mode=None)

Data = Annotated[str | None, typer.Option(metavar="<path>", help="The server's data folder. [default: .interlock]")]
Database = Annotated[str | None, typer.Option(help="Database URL of the server, if not in --data.")]


@app.callback()
def secrets() -> None:
    """Rotate the keys that seal secret values."""


@app.command()
def rotate(data: Data = None, database: Database = None) -> None:
    """Create a new master key, and reseal every value with a new key. Servers can keep running."""
    import asyncio

    from interlock.bootstrap import arm
    from interlock.config import load

    config = load({"data": data, "database": database})
    arm(config)
    rotation = asyncio.run(_rotate(config))
    typer.echo(_summary(rotation))
    if config.secret_key is None:
        typer.echo(f"{config.data / 'secret.key'} holds the new master key: back it up, and copy it to other servers")
    else:
        typer.echo("now set INTERLOCK_SECRET_KEY to what INTERLOCK_NEW_SECRET_KEY is, and restart every server with it")


async def _rotate(config: "Config") -> "RotationReport | None":
    from interlock.cli._database import require_database
    from interlock.master_key import master_key_to_rotate
    from interlock.ports.clock import SystemClock
    from interlock.storage.database import open_database
    from interlock.storage.key_rotation import rotate
    from interlock.storage.migrate import migrate

    master = master_key_to_rotate(config)
    require_database(config)
    database = open_database(config.database_url)
    try:
        await migrate(database)
        return await rotate(database, master, SystemClock().now())
    finally:
        await database.close()


def _summary(rotation: "RotationReport | None") -> str:
    if rotation is None:
        return "the new master key is in use already"
    lost = f"; {rotation.unreadable} could not be opened and stay as they are" if rotation.unreadable else ""
    return f"rotated: {rotation.values} sealed values are under a new key{lost}"
