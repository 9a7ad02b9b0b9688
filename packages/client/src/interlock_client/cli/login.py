"""`interlock login` and `interlock logout`: a key for this machine, kept for the other commands."""

from typing import TYPE_CHECKING, Annotated

import typer

from interlock_client.cli._server import Url, hidden_prompt, refusals, run, system_language

if TYPE_CHECKING:
    from interlock_client.cli.config import ClientConfig
    from interlock_client.cli.credentials import StoredCredential
    from interlock_client.client import Interlock
    from interlock_client.inbox import Welcome


def login(
    url: Url = None,
    user: Annotated[str | None, typer.Option(help="Your username. [default: prompt]")] = None,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="Store an existing API key; it is prompted for.")
    ] = False,
    days: Annotated[int, typer.Option(help="Days until the new key expires.", min=1, max=3650)] = 30,
) -> None:
    """Sign in and store a key for this server. Only you can read the file."""
    from interlock_client.cli.config import load_client
    from interlock_client.cli.credentials import keep

    config = load_client({"url": url})
    if not with_key:
        _check_passwords(config)
    entry = _given_credential(config) if with_key else _create_key(config, user, days)
    keep(config.credentials, config.url, entry)
    typer.echo(f"signed in at {config.url}; kept in {config.credentials}")


def logout(
    url: Url = None,
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Only delete the stored key; it stays valid until it expires or is revoked."),
    ] = False,
) -> None:
    """Revoke and delete the stored key. Asks for your password."""
    from interlock_client.cli import credentials
    from interlock_client.cli.config import load_client

    config = load_client({"url": url})
    entry = credentials.stored_credential(config.credentials, config.url)
    if entry is None:
        typer.echo(f"nothing is kept for {config.url}")
        return
    is_revoked = bool(entry.key_id) and not forget
    if is_revoked:
        _check_passwords(config)
        _revoke(config, entry)
    credentials.forget(config.credentials, config.url)
    if is_revoked:
        typer.echo(f"signed out of {config.url}; the key no longer holds")
    else:
        key_text = f" ({entry.key_id})" if entry.key_id else ""
        typer.echo(
            f"the key for {config.url}{key_text} is forgotten here; it still holds until it expires or is revoked"
        )


def _check_passwords(config: "ClientConfig") -> None:
    """Before a password is asked for, which the server would refuse."""
    import asyncio

    from interlock_client.client import Interlock
    from interlock_client.errors import InterlockError

    async def ask() -> "Welcome":
        async with Interlock(config.url, locale=system_language()) as client:
            return await client.welcome()

    with refusals():
        welcome = asyncio.run(ask())
        if not welcome.passwords:
            raise InterlockError(
                f"passwords are turned off on this server: sign in at {config.url} with {welcome.sign_on}, make an API "
                "key there under Settings, API keys, and store it with: interlock login --with-key"
            )


def _revoke(config: "ClientConfig", entry: "StoredCredential") -> None:
    """By who signed in, and not with the key: keys revoke no keys."""
    import asyncio

    from interlock_client.client import Interlock
    from interlock_client.errors import NotFound

    key_id, user = entry.key_id or "", entry.user or typer.prompt("Username")
    password = hidden_prompt(f"Password of {user}")

    async def revoke() -> None:
        async with await Interlock.sign_in(config.url, user, password, locale=system_language()) as client:
            try:
                await client.revoke_key(key_id)
            except NotFound:
                return  # the server no longer knows it

    with refusals():
        asyncio.run(revoke())


def _given_credential(config: "ClientConfig") -> "StoredCredential":
    from dataclasses import replace

    from interlock_client.cli.credentials import StoredCredential

    key = hidden_prompt("API key")

    async def check(client: "Interlock") -> None:
        async for _ in client.pending(page_size=1):
            return

    run(replace(config, key=key), check)
    return StoredCredential(key)


def _create_key(config: "ClientConfig", user: str | None, days: int) -> "StoredCredential":
    """A key of its own, so that it can be revoked by itself, and outlives the token of a sign-in."""
    import asyncio
    import socket
    from datetime import UTC, datetime, timedelta

    from interlock_client.cli.credentials import StoredCredential
    from interlock_client.client import Interlock

    name = user or typer.prompt("Username")
    password = hidden_prompt("Password")

    async def make() -> StoredCredential:
        expires_at = datetime.now(UTC) + timedelta(days=days)
        async with await Interlock.sign_in(config.url, name, password, locale=system_language()) as client:
            key = await client.create_key(f"terminal at {socket.gethostname()}"[:64], expires_at=expires_at)
        return StoredCredential(key.key, key.id, name)

    with refusals():
        return asyncio.run(make())
