"""What the commands share that talk to a running server."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from interlock_client.cli.config import ClientConfig
    from interlock_client.client import Interlock
    from interlock_client.errors import AlreadySettled, InterlockError

T = TypeVar("T")
Url = Annotated[
    str | None, typer.Option(help="The server's address. [default: INTERLOCK_URL, or http://127.0.0.1:8000]")
]
Key = Annotated[
    str | None,
    typer.Option(
        help="API key; others on this machine can see arguments. [default: INTERLOCK_KEY, or `interlock login`]"
    ),
]
User = Annotated[str | None, typer.Option(help="Your name, on a server without accounts.")]

LONGEST = 300
"""Characters of an answer that is told of in one line."""
PATIENCE = 10.0
"""Seconds to go on trying while the server cannot be reached."""


def load_config(url: str | None, key: str | None, user: str | None) -> "ClientConfig":
    """The settings, with the key that is kept for the server where none is given."""
    from dataclasses import replace

    from interlock_client.cli.config import load_client
    from interlock_client.cli.credentials import stored_credential

    config = load_client({"url": url, "key": key, "user": user})
    if config.key or not (found := stored_credential(config.credentials, config.url)):
        return config
    return replace(config, key=found.key)


def arguments(config: "ClientConfig") -> dict[str, Any]:
    """What a client of that server is made with."""
    return {"url": config.url, "key": config.key, "user": config.user, "locale": system_language()}


def system_language() -> str:
    """The language of the system; what the commands say themselves is English."""
    from interlock_client.language import language

    return language() or "en"


def run(config: "ClientConfig", work: "Callable[[Interlock], Awaitable[T]]") -> T:
    """Do the work with a client of the server; what it refuses ends the command."""
    import asyncio

    from interlock_client.client import Interlock

    async def run() -> T:
        async with Interlock(**arguments(config), patience=PATIENCE) as client:
            return await work(client)

    with refusals():
        return asyncio.run(run())


def hidden_prompt(text: str, *, twice: bool = False) -> str:
    """What is typed unseen. Typer's own prompt prints before it turns the echo off: who types at once is seen."""
    from getpass import getpass

    try:
        while not (typed := getpass(f"{text}: ")):
            pass
        if twice and getpass("Repeat for confirmation: ") != typed:
            typer.echo("Error: The two entered values do not match.", err=True)
            return hidden_prompt(text, twice=True)
    except (KeyboardInterrupt, EOFError):
        typer.echo(err=True)
        raise typer.Abort from None
    return typed


@contextmanager
def refusals() -> Generator[None]:
    """What the server refuses, or a server that is not reached, is one line on standard error and exit code 1; what was
    not even sent is bad usage, and exit code 2. An interrupt ends without a word."""
    from interlock_client.errors import InterlockError, InvalidInput

    try:
        yield
    except InterlockError as error:
        typer.echo(f"interlock: {reason(error)}", err=True)
        raise typer.Exit(2 if isinstance(error, InvalidInput) and error.status is None else 1) from error
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def reason(error: "InterlockError") -> str:
    """Why, in one line that is safe to print: a server repeats what agents wrote."""
    from interlock_client.errors import AlreadySettled, NotAuthenticated
    from interlock_client.visible import one_line

    text = error.message
    if isinstance(error, NotAuthenticated):
        text += "; run `interlock login`, or set INTERLOCK_KEY"
    elif isinstance(error, AlreadySettled):
        text += f" ({_end(error)})"
    return one_line(text)


def _end(error: "AlreadySettled") -> str:
    """By whom, from where, when, with what and why."""
    import json

    answer = json.dumps(error.answer, ensure_ascii=False) if error.answer is not None else ""
    parts = [
        f"by {error.answered_by or 'nobody'}{f' through {error.source}' if error.source else ''}",
        error.answered_at,
        f"with {answer if len(answer) <= LONGEST else answer[:LONGEST] + '…'}" if answer else "without an answer",
        error.reason,
    ]
    return ", ".join(part for part in parts if part)
