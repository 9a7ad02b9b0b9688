"""`interlock users`: the accounts of people."""

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.domain.principal import Role as Known
    from interlock.services.core import Core

app = typer.Typer(help="Create accounts, reset passwords, set roles.", no_args_is_help=True, rich_markup_mode=None)

Password = Annotated[str | None, typer.Option(help="Asked for when left out: an argument can be seen by others.")]
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
    """Make an account, also when registration is closed."""
    from interlock.services import accounts

    chosen = _role(role) if role else None
    secret = _password(password)

    async def work(core: "Core") -> str:
        user = await accounts.create_user(core, username, secret, role=chosen, reviews=tuple(agent or ()))
        return f"{user.username} is {user.role}"

    typer.echo(run(data, database, work))


@app.command()
def reset(username: str, password: Password = None, data: Data = None, database: Database = None) -> None:
    """Set a new password; every token of the user ends."""
    from interlock.services import accounts

    secret = _password(password)

    async def work(core: "Core") -> None:
        await accounts.reset_password(core, username, secret)

    run(data, database, work)
    typer.echo(f"{username} has a new password; earlier tokens no longer hold")


@app.command()
def role(username: str, role: str, agent: Reviews = None, data: Data = None, database: Database = None) -> None:
    """Make a user owner, reviewer (of the agents named) or admin."""
    from interlock.services import accounts

    chosen = _role(role)

    async def work(core: "Core") -> str:
        user = await accounts.set_role(core, username, chosen, tuple(agent or ()))
        reviews = await accounts.spelled_reviews(core, user.reviews)
        return f"{user.username} is {user.role}" + (f" of {', '.join(reviews)}" if reviews else "")

    typer.echo(run(data, database, work))


@app.command(name="list")
def list_all(data: Data = None, database: Database = None) -> None:
    """List every account."""
    from interlock.services import accounts

    async def work(core: "Core") -> list[str]:
        return [
            f"{user.username}\t{user.role}\t{','.join(await accounts.spelled_reviews(core, user.reviews))}"
            f"\t{user.created_at:%Y-%m-%d %H:%M}"
            for user in await accounts.list_users(core)
        ]

    for line in run(data, database, work, reads=True):
        typer.echo(line)


def _role(text: str) -> "Known":
    from interlock.domain.errors import InvalidInput
    from interlock.domain.principal import Role as Known

    people = [Known.OWNER, Known.REVIEWER, Known.ADMIN]
    if text not in people:
        raise InvalidInput(f"{text!r} is no role of a person: use {', '.join(people)}")
    return Known(text)


def _password(given: str | None) -> str:
    return given or typer.prompt("Password", hide_input=True, confirmation_prompt=True)
