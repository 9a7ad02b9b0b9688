"""`interlock doctor`: what keeps a person from being asked here, and what to do about it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from interlock_client.cli._server import Key, Url

if TYPE_CHECKING:
    from interlock_client.cli.findings import Finding


def doctor(
    url: Url = None,
    key: Key = None,
    project: Annotated[
        bool, typer.Option("--project", help="Check the agents' settings of this folder instead of yours.")
    ] = False,
) -> None:
    """Check server, keys, clock and coding agents, and say what to do. Exit code 1 if something cannot work."""
    from interlock_client.visible import visible

    levels: list[str] = []
    for finding in _findings(url, key, project=project):
        levels.append(finding.level)
        typer.echo(f"{finding.level:<5} {' '.join(visible(f'{finding.about}: {finding.text}').split())}")
    wrong, doubtful = levels.count("fail"), levels.count("warn")
    typer.echo(f"{wrong} cannot work, {doubtful} to look at" if wrong or doubtful else "everything is in order")
    raise typer.Exit(1 if wrong else 0)


def _findings(url: str | None, key: str | None, *, project: bool) -> "Iterator[Finding]":
    from interlock_client.cli import findings

    yield from findings.of_commands(url, key)
    yield from findings.of_hooks(url, key)
    yield from findings.of_agents(project=project)
    yield from findings.of_mcp_entries(project=project)
