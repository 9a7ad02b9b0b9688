"""The `interlock` command."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from interlock.cli import (
    answer,
    audit,
    backup,
    chat,
    cluster,
    follow,
    inbox,
    keys,
    login,
    pending,
    secrets,
    threads,
    users,
    webhooks,
)
from interlock.domain.errors import InterlockError

app = typer.Typer(
    name="interlock",
    help="A self-hosted human-in-the-loop server for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes longer to load than the rest of the command to run
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def interlock(
    _version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    """A self-hosted human-in-the-loop server for AI agents."""


app.add_typer(users.app, name="users")
app.add_typer(keys.app, name="keys")
app.add_typer(audit.app, name="audit")
app.add_typer(secrets.app, name="secrets")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(cluster.app, name="cluster")
app.add_typer(threads.app, name="threads")

Data = Annotated[Path | None, typer.Option(help="Folder for everything that is kept. [default: .interlock]")]
Database = Annotated[
    str | None, typer.Option(help="sqlite:///path/to/file.db or postgresql://user@host/name. [default: in --data]")
]
Bus = Annotated[
    str | None, typer.Option(help="redis://host:port/number, for servers that share a database. [default: none]")
]
Agents = Annotated[
    list[str] | None,
    typer.Option(help="NAME=package.module:attr or NAME=path/to/file.py:attr; repeatable, the first is the default."),
]
LogFormat = Annotated[
    str | None, typer.Option(help="text, json, or auto: text on a terminal, json elsewhere. [default: auto]")
]


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="[default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="[default: 8000]")] = None,
    data: Data = None,
    database: Database = None,
    bus: Bus = None,
    auth: Annotated[str | None, typer.Option(help="accounts, or none on loopback. [default: accounts]")] = None,
    agent: Agents = None,
    runner: Annotated[
        str | None, typer.Option(help="local: agents run in this process; ray: in workers of Ray. [default: local]")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster. [default: one of the server's own, on this machine]")
    ] = None,
    locale: Annotated[str | None, typer.Option(help="zh or en. [default: zh]")] = None,
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
            "locale": locale,
            "log_format": log_format,
        }
    )


@app.command()
def migrate(data: Data = None, database: Database = None) -> None:
    """Bring the database up to date. A server does the same when it starts."""
    from interlock.cli.migrating import migrate_now

    for revision in migrate_now({"data": data, "database": database}):
        typer.echo(f"applied {revision}")
    typer.echo("the database is up to date")


@app.command()
def version() -> None:
    """Print the version."""
    from interlock import __version__

    typer.echo(__version__)


for command in (
    backup.backup,
    backup.restore,
    inbox.inbox,
    answer.answer,
    pending.pending,
    follow.follow,
    chat.chat,
    login.login,
    login.logout,
):
    app.command()(command)


def run(arguments: list[str] | None = None) -> Any:
    """Run the command; what the core refuses is one line on standard error and exit code 2."""
    try:
        return app(arguments)
    except InterlockError as error:
        # A library's own words may have several lines.
        typer.echo(f"interlock: {' '.join(error.message.split())}", err=True)
        if error.notes:
            from interlock_client.visible import visible

            typer.echo(visible(error.notes), err=True)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        # A folder or a file that cannot be made, read or written.
        typer.echo(f"interlock: {error.filename} cannot be used: {error.strerror}", err=True)
        sys.exit(2)
