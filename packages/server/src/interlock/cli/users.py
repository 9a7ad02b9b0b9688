"""`interlock users`: the accounts of people."""

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run
from interlock_client.cli._server import hidden_prompt

if TYPE_CHECKING:
    from interlock.domain.principal import Role as Known
    from interlock.domain.principal import User
    from interlock.services.core import Core

app = typer.Typer(
    help="Create, block and delete accounts; reset passwords; set roles.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Password = Annotated[str | None, typer.Option(help="Others on this machine can see arguments. [default: prompt]")]
Role = Annotated[str | None, typer.Option(help="owner, reviewer or admin. [default: admin for the first, else owner]")]
Reviews = Annotated[
    list[str] | None,
    typer.Option(
        "--agent", help="For a reviewer: an agent they answer for; OWNER/AGENT if it runs elsewhere. Repeatable."
    ),
]


@app.command()
def create(
    username: str,
    password: Password = None,
    role: Role = None,
    agent: Reviews = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Create an account, even if registration is closed."""
    from interlock.services.access import accounts

    chosen = _role(role) if role else None
    # Where nobody signs in with a password, the account is for single sign-on.
    secret = _password(password) if _has_passwords() else None

    async def work(core: "Core") -> str:
        user = await accounts.create_user(core, username, secret, role=chosen, reviews=tuple(agent or ()))
        return f"{user.username} is {user.role}"

    typer.echo(run(data, database, work, makes=True))


@app.command()
def reset(username: str, password: Password = None, data: Data = None, database: Database = None) -> None:
    """Set a new password; all tokens of the user become invalid."""
    from interlock.services.access import accounts, sign_ins

    if not _has_passwords():
        # Before a password is asked for, which would be of no use.
        run(data, database, lambda core: accounts.refuse_passwords(core))
    secret = _password(password)

    async def work(core: "Core") -> None:
        await sign_ins.reset_password(core, username, secret)

    run(data, database, work)
    typer.echo(f"{username} has a new password; earlier tokens no longer hold")


@app.command()
def role(username: str, role: str, agent: Reviews = None, data: Data = None, database: Database = None) -> None:
    """Set the role: owner, reviewer (of the given agents) or admin."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.access import accounts, people

    chosen = _role(role)

    async def work(core: "Core") -> str:
        user = await people.set_role(core, SYSTEM, username, chosen, tuple(agent or ()))
        reviews = await accounts.format_reviews(core, user.reviews)
        return f"{user.username} is {user.role}" + (f" of {', '.join(reviews)}" if reviews else "")

    typer.echo(run(data, database, work))


@app.command()
def disallow(username: str, data: Data = None, database: Database = None) -> None:
    """Block a user: sessions end, and keys are invalid until the user is allowed again."""
    _set_allowed(username, False, data, database)
    typer.echo(f"{username} may not sign in; sessions have ended, and keys do not hold")


@app.command()
def allow(username: str, data: Data = None, database: Database = None) -> None:
    """Unblock a user."""
    _set_allowed(username, True, data, database)
    typer.echo(f"{username} may sign in; keys that were not revoked hold again")


@app.command(name="sign-out")
def sign_out(username: str, data: Data = None, database: Database = None) -> None:
    """End all sessions of a user; the password and keys stay as they are."""
    from interlock.services.access import sign_ins

    async def work(core: "Core") -> int:
        return await sign_ins.end_sessions_of(core, username)

    typer.echo(f"{username} is signed out everywhere; sessions that have ended: {run(data, database, work)}")


@app.command()
def delete(
    username: str,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Delete a user: sessions, keys, grants and saved values end, and pending requests are cancelled."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.access import people
    from interlock.services.access.deleted_accounts import clear_up

    if not yes:
        typer.confirm(
            f"Delete {username} for good? Their conversations stay, and nobody else gets the name", abort=True
        )

    async def work(core: "Core") -> str:
        left = await people.delete_person(core, SYSTEM, username)
        # Also where no server runs that would do it.
        await clear_up(core)
        return f"sessions: {left.sessions}, keys: {left.keys}, grants: {left.grants}, saved values: {left.saved_values}"

    typer.echo(f"{username} is deleted; ended with them: {run(data, database, work)}")


def _set_allowed(username: str, allowed: bool, data: Data, database: Database) -> None:
    from interlock.domain.principal import SYSTEM
    from interlock.services.access import people

    async def work(core: "Core") -> None:
        await people.set_allowed(core, SYSTEM, username, allowed=allowed)

    run(data, database, work)


@app.command(name="list")
def list_all(data: Data = None, database: Database = None) -> None:
    """List all accounts, including deleted ones, whose names stay reserved."""
    from interlock.services.access import accounts

    async def work(core: "Core") -> list[str]:
        waiting = await accounts.open_requests(core)
        return [
            f"{user.username}\t{user.role}\t{','.join(await accounts.format_reviews(core, user.reviews))}"
            f"\t{user.created_at:%Y-%m-%d %H:%M}\t{waiting.get(user.id, 0)}{_account_state(user)}"
            for user in await accounts.list_users(core)
        ]

    for line in run(data, database, work):
        typer.echo(line)


def _account_state(user: "User") -> str:
    if user.deleted_at is not None:
        return f"\tdeleted {user.deleted_at:%Y-%m-%d %H:%M}"
    return "" if user.is_allowed else "\tnot allowed"


def _role(text: str) -> "Known":
    from interlock.domain.errors import InvalidInput
    from interlock.domain.principal import Role as Known

    people = [Known.OWNER, Known.REVIEWER, Known.ADMIN]
    if text not in people:
        raise InvalidInput(f"{text!r} is no role of a person: use {', '.join(people)}")
    return Known(text)


def _has_passwords() -> bool:
    from interlock.config import load

    return load().passwords


def _password(given: str | None) -> str:
    return given or hidden_prompt("Password", twice=True)
