"""The `interlock` command: what talks to a server, and what other packages add."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from interlock_client.cli import answer, bridges, chat, doctor, follow, inbox, login, pending, policy, teams, watch
from interlock_client.cli.entry import installed_version
from interlock_client.cli.plug_ins import add_commands
from interlock_client.visible import one_line


class Commands(TyperGroup):
    """What it says of a wrong use repeats what was given: that is written out, as in all other errors."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _one_line_errors():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _one_line_errors():
            return super().invoke(ctx)


@contextmanager
def _one_line_errors() -> Generator[None]:
    try:
        yield
    except typer.TyperException as error:
        if isinstance(message := getattr(error, "message", None), str):
            cast("Any", error).message = one_line(message)
        raise


app = typer.Typer(
    name="interlock",
    cls=Commands,
    help="A self-hosted human-in-the-loop server for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes longer to load than the rest of the command to run
)


def _print_version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


@app.callback()
def interlock(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A self-hosted human-in-the-loop server for AI agents."""


def version() -> None:
    """Print the version."""
    typer.echo(installed_version())


OWN: dict[str, Callable[..., Any] | typer.Typer] = {
    one.__name__: one
    for one in (
        version,
        inbox.inbox,
        answer.answer,
        pending.pending,
        follow.follow,
        chat.chat,
        login.login,
        login.logout,
        doctor.doctor,
        bridges.hook,
        watch.watch,
        bridges.acp,
        bridges.mcp,
        teams.away,
    )
} | {"mcp-gateway": bridges.mcp_gateway, "policy": policy.policy, "groups": teams.groups}
ORDER = (
    *("serve", "migrate", "version", "backup", "restore"),
    *("inbox", "answer", "pending", "follow", "chat", "away", "login", "logout"),
    *("doctor", "hook", "watch", "acp", "mcp", "mcp-gateway"),
    *("policy", "groups", "users", "keys", "audit", "secrets", "webhooks", "channels", "cluster", "threads"),
)
add_commands(app, OWN, ORDER, passed_on=("hook", "mcp"))
