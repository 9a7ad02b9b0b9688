"""Commands that other packages bring: those of the server, where it is installed, and anybody's.

A package names them as entry points: in the group `interlock.commands` a function or a `typer.Typer`, under the word
that is typed; in `interlock.refusals` the exceptions whose `message` is for people, and no fault of the program.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer

from interlock_client.cli.entry import SERVER
from interlock_client.visible import one_line

COMMANDS = "interlock.commands"
REFUSALS = "interlock.refusals"


_TAKING_ALL: dict[str, Any] = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def add_commands(
    app: typer.Typer,
    own: Mapping[str, Callable[..., Any] | typer.Typer],
    order: tuple[str, ...],
    passed_on: tuple[str, ...] = (),
) -> None:
    """Add our own commands, those of the server in their places, and then anybody's; nobody replaces one of ours.

    `order` names ours and the server's: who types one of the server's without its package is told so. Those that are
    `passed_on` read their arguments themselves.
    """
    found = {point.name: point for point in entry_points(group=COMMANDS)}
    for name in (*order, *sorted(found.keys() - set(order))):
        if name in own:
            _add_own(app, name, own[name], _TAKING_ALL if name in passed_on else None)
        elif name in found:
            _add(app, name, found[name])
        else:
            why = f"a command of the server, which is not installed here: pip install {SERVER}"
            _stand_in(app, name, f"`interlock {name}` is {why}", hidden=True)


def refusals() -> tuple[type[BaseException], ...]:
    found: list[type[BaseException]] = []
    for point in entry_points(group=REFUSALS):
        # What cannot be loaded was not raised either, and must not hide what was.
        with suppress(Exception):
            found.append(point.load())
    return tuple(found)


def _add_own(
    app: typer.Typer, name: str, command: Callable[..., Any] | typer.Typer, context: dict[str, Any] | None
) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, context_settings=context)(command)


def _add(app: typer.Typer, name: str, point: EntryPoint) -> None:
    """A package that cannot be imported takes no other command down."""
    try:
        loaded = point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        reason = one_line(f"{type(error).__name__}: {error}")
        _stand_in(app, name, f"`interlock {name}`, of {package}, cannot be loaded: {reason}", hidden=False)
        return
    if isinstance(loaded, typer.Typer):
        app.add_typer(loaded, name=name)
    else:
        app.command(name)(loaded)


def _stand_in(app: typer.Typer, name: str, why: str, *, hidden: bool) -> None:
    """In the place of a command that is not there: it says why, whatever it is given."""

    def tell() -> None:
        typer.echo(f"interlock: {why}", err=True)
        raise typer.Exit(2)

    app.command(name, hidden=hidden, help=why, context_settings=_TAKING_ALL)(tell)
