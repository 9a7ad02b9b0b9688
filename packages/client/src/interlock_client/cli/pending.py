"""`interlock pending`: what waits, for reading or for a script."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlock_client.cli._server import Key, Url, User, load_config, run, system_language

if TYPE_CHECKING:
    from interlock_client.client import Interlock
    from interlock_client.hitl import PendingRequest
    from interlock_client.teams import People

TYPES = ("clarification", "decision", "env_var", "permission")
RISKS = ("low", "medium", "high", "critical")


def pending(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list of request objects.")] = False,
    type: Annotated[str | None, typer.Option(help=f"Only {', '.join(TYPES)}.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only requests of this agent.")] = None,
    risk: Annotated[str | None, typer.Option(help=f"Only requests of this risk: {', '.join(RISKS)}.")] = None,
    conversation: Annotated[
        str | None, typer.Option(help="Only requests of this conversation; not with other filters.")
    ] = None,
    for_whom: Annotated[
        str | None,
        typer.Option("--for", metavar="WHOM", help="Only requests for me, for group:NAME, or claimed (by me)."),
    ] = None,
    min_age: Annotated[float | None, typer.Option(help="Only requests at least this many seconds old.", min=0)] = None,
    max_age: Annotated[float | None, typer.Option(help="Only requests at most this many seconds old.", min=0)] = None,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """List pending requests, oldest first."""
    from json import dumps

    filters: dict[str, Any] = {"type": _one_of("--type", type, TYPES), "risk": _one_of("--risk", risk, RISKS)}
    filters |= {"agent": agent, "min_age": min_age, "max_age": max_age}

    async def work(client: "Interlock") -> "tuple[list[PendingRequest], dict[str, People | None]]":
        found = [one async for one in client.pending(conversation, **filters)]
        wanted = found or for_whom is not None
        by_id = {one.request_id: one.people async for one in client.inbox(for_whom=for_whom)} if wanted else {}
        return [one for one in found if for_whom is None or one.request_id in by_id], by_id

    found, people = run(load_config(url, key, user), work)
    if json:
        # Escapes for every letter beyond ASCII: nothing in it steers a terminal.
        typer.echo(dumps([_plain(one, people.get(one.request_id)) for one in found], indent=2))
        return
    for one in found:
        typer.echo(_row(one, people.get(one.request_id)))


def _plain(request: "PendingRequest", people: "People | None") -> dict[str, Any]:
    more = {} if people is None else {"people": people.model_dump(mode="json")}
    return request.model_dump(mode="json") | more


def _row(request: "PendingRequest", people: "People | None") -> str:
    from datetime import UTC, datetime

    from interlock_client.cli.terminal.open_request import from_pending
    from interlock_client.cli.terminal.team_wording import TeamWording, language_of
    from interlock_client.cli.terminal.wording import one_line

    one = from_pending(request)
    columns = (one.id, one.kind, one.asker, one.risk or "-", request.created_at, request.expires_at or "-", one.summary)
    wording = TeamWording(language_of(system_language()))
    needs = () if people is None else (wording.brief(people, datetime.now(UTC)),)
    return "\t".join(one_line(text) for text in (*columns, *needs))


def _one_of(option: str, given: str | None, known: tuple[str, ...]) -> str | None:
    if given is not None and given not in known:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(known)}", param_hint=option)
    return given
