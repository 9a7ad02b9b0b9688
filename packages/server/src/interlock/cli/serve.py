"""`interlock serve` and `interlock migrate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from interlock.config import Config

Data = Annotated[str | None, typer.Option(metavar="<path>", help="Data folder. [default: .interlock]")]
Database = Annotated[
    str | None, typer.Option(help="sqlite:///path/to/file.db or postgresql://user@host/name. [default: in --data]")
]
Bus = Annotated[
    str | None,
    typer.Option(help="redis://host:port/number: live events between servers that share a database. [default: none]"),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(help="NAME=package.module:attr or NAME=path/to/file.py:attr; repeatable, the first is the default."),
]
LogFormat = Annotated[
    str | None, typer.Option(help="text, json, or auto: text on a terminal, json elsewhere. [default: auto]")
]


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one. [default: 8000]")] = None,
    data: Data = None,
    database: Database = None,
    bus: Bus = None,
    auth: Annotated[str | None, typer.Option(help="accounts, or none (loopback only). [default: accounts]")] = None,
    agent: Agents = None,
    runner: Annotated[
        str | None, typer.Option(help="local: run agents in this process; ray: in Ray workers. [default: local]")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster. [default: start a local Ray]")
    ] = None,
    mcp_gateway: Annotated[
        Path | None, typer.Option(help="YAML file of MCP servers to put behind /mcp/g/NAME. [default: none]")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="langgraph.json of a project; its graphs are served. [default: none]"),
    ] = None,
    locale: Annotated[str | None, typer.Option(help="Default language: zh or en. [default: zh]")] = None,
    drills: Annotated[
        str | None,
        typer.Option(help="Drills, fake requests to refuse: off, on, or N for one per N approvals. [default: off]"),
    ] = None,
    break_glass: Annotated[
        str | None,
        typer.Option(help="Let an admin alone answer for others, with a reason: on or off. [default: off]"),
    ] = None,
    second_opinion: Annotated[
        str | None,
        typer.Option(help="Function that explains calls: package.module:attr or path/to/file.py:attr. [default: none]"),
    ] = None,
    log_format: LogFormat = None,
) -> None:
    """Start the server. Every option can also be set as INTERLOCK_NAME in the environment."""
    from interlock.cli.serving import serve_until_stopped

    serve_until_stopped(
        {
            "host": host,
            "port": port,
            "data": data,
            "database": database,
            "bus": bus,
            "auth": auth,
            "agents": tuple(agent or ()),
            "runner": runner,
            "ray_address": ray_address,
            "mcp_gateway": mcp_gateway,
            "config": config,
            "locale": locale,
            "drills": drills,
            "break_glass": break_glass,
            "second_opinion": second_opinion,
            "log_format": log_format,
        }
    )


def migrate(data: Data = None, database: Database = None) -> None:
    """Migrate the database. A server does the same when it starts."""
    import asyncio

    from interlock.cli._database import announce_new, has_database
    from interlock.config import load

    config = load({"data": data, "database": database})
    is_there = has_database(config)
    applied = asyncio.run(_migrate(config))
    if not is_there:
        announce_new(config)
    for revision in applied:
        typer.echo(f"applied {revision}")
    typer.echo("the database is up to date")


async def _migrate(config: "Config") -> list[str]:
    from interlock.storage.database import open_database
    from interlock.storage.migrate import migrate

    database = open_database(config.database_url)
    try:
        return await migrate(database)
    finally:
        await database.close()
