"""`interlock keys`: the API keys of people and of their agents."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.domain.principal import Principal
    from interlock.services.core import Core

app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None)

Owner = Annotated[str, typer.Option("--user", help="Owner of the key: the person who is asked, or who answers.")]


@app.command()
def create(
    name: str,
    user: Owner,
    role: Annotated[str, typer.Option(help="person (can answer) or agent (can ask, never answer).")] = "person",
    agent: Annotated[str | None, typer.Option(help="For an agent key: the name people see. [default: NAME]")] = None,
    days: Annotated[int | None, typer.Option(help="Days until it expires. [default: never]", min=1, max=36500)] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Create a key and print it. It is not shown again."""
    from interlock.domain.api_key import KeyRole
    from interlock.domain.errors import InvalidInput
    from interlock.services.access import keys

    if role not in list(KeyRole):
        raise InvalidInput(f"{role!r} is no role of a key: use {', '.join(KeyRole)}")

    async def work(core: "Core") -> str:
        expires_at = core.clock.now() + timedelta(days=days) if days else None
        owner = await _person(core, user)
        _, text = await keys.create_key(core, owner, name, KeyRole(role), agent=agent, expires_at=expires_at)
        return text

    typer.echo(run(data, database, work))


@app.command(name="list")
def list_all(
    user: Annotated[str | None, typer.Option(help="Only keys of this person. [default: all]")] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """List keys and whether they are valid; never the keys themselves."""

    async def work(core: "Core") -> list[str]:
        owner = (await _person(core, user)).id if user else None
        now = core.clock.now()
        async with core.store.snapshot() as tx:
            names = {one.id: one.username for one in await tx.users.all()}
            found = await tx.api_keys.of_owner(owner)
        lines: list[str] = []
        for key in found:
            state = "revoked" if key.revoked_at else "holds" if key.holds(now) else "expired"
            used = f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never used"
            whose = names.get(key.owner_id, key.owner_id)
            lines.append("\t".join((key.id, key.name, key.role, key.agent or "-", whose, state, used)))
        return lines

    for line in run(data, database, work):
        typer.echo(line)


@app.command()
def revoke(key_id: str, data: Data = None, database: Database = None) -> None:
    """Revoke a key; its streams end within seconds."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.access import keys

    async def work(core: "Core") -> str:
        key = await keys.revoke_key(core, SYSTEM, key_id)
        return f"{key.name} ({key.id}) no longer holds"

    typer.echo(run(data, database, work))


async def _person(core: "Core", username: str) -> "Principal":
    from interlock.domain.errors import NotFound
    from interlock.domain.principal import principal_of

    async with core.store.snapshot() as tx:
        found = await tx.users.by_name(username)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"there is no user {username!r}: make one with `interlock users create {username}`")
    return principal_of(found)
