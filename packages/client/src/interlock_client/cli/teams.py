"""`interlock groups` and `interlock away`: of whom requests are asked, and who is not there."""

from typing import TYPE_CHECKING, Annotated

import typer

from interlock_client.cli._printing import Json, end_with_json, moment, print_row
from interlock_client.cli._server import Key, Url, User, load_config, run

if TYPE_CHECKING:
    from interlock_client.client import Interlock
    from interlock_client.teams import AwayTime, Group

Name = Annotated[str, typer.Argument(metavar="NAME", help="The group.")]
Members = Annotated[list[str] | None, typer.Argument(metavar="[MEMBER]...", help="Names of people.")]
Everybody = Annotated[list[str], typer.Argument(metavar="MEMBER...", help="Names of people: all of them.")]

groups = typer.Typer(
    help="Groups of people, for rules and asks. Changing them is for admins.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@groups.command("list")
def list_(json: Json = False, url: Url = None, key: Key = None, user: User = None) -> None:
    """List the groups: name, `local` or `oidc` (from single sign-on), members."""
    found = run(load_config(url, key, user), lambda client: client.groups())
    if json:
        end_with_json(found)
    for one in found:
        _print_group(one)


@groups.command()
def add(name: Name, members: Members = None, url: Url = None, key: Key = None, user: User = None) -> None:
    """Create a group."""
    _print_group(run(load_config(url, key, user), lambda client: client.create_group(name, members or ())))


@groups.command("set")
def set_(name: Name, members: Everybody, url: Url = None, key: Key = None, user: User = None) -> None:
    """Set the members of a group. Votes of removed members no longer count for open requests."""
    _print_group(run(load_config(url, key, user), lambda client: client.set_group(name, members)))


@groups.command()
def remove(name: Name, url: Url = None, key: Key = None, user: User = None) -> None:
    """Remove a group. Its open requests can then only be ended by the person who asked, or by admins."""
    run(load_config(url, key, user), lambda client: client.remove_group(name))
    print_row(f"the group {name} is removed")


def _print_group(group: "Group") -> None:
    print_row(group.name, group.source, ", ".join(group.members) or "-")


def away(
    until: Annotated[str | None, typer.Option(metavar="MOMENT", help="Be away until then: 2026-01-31T09:30.")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="MOMENT", help="With --until. [default: now]")] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --until: your substitute, who is asked too if an ask names you."),
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="Be back.")] = False,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --until or --back: set it for somebody else; for admins.")
    ] = None,
    json: Json = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Set when you are away, or that you are back; without options: show it. You can still answer while away."""
    end, begin = moment("--until", until), moment("--from", since)
    if end is None and (begin or to):
        raise typer.BadParameter("--from and --to go with --until")
    if end is not None and back:
        raise typer.BadParameter("give --until or --back, not both")
    if person is not None and end is None and not back:
        raise typer.BadParameter("--person goes with --until or --back")

    async def work(client: "Interlock") -> "AwayTime | None":
        if end is not None:
            return await client.set_away(end, since=begin, to=to, person=person)
        if back:
            await client.end_away(person)
            return None
        return await client.away()

    found = run(load_config(url, key, user), work)
    if json:
        end_with_json(found)
    if found is None:
        typer.echo("not away")
    else:
        print_row("away", found.from_.isoformat(), found.until.isoformat(), found.to or "-")
