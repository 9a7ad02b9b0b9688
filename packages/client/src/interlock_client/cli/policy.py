"""`interlock policy`: rules that decide which asks need no person, written in files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from interlock_client.cli._printing import Json, end_with_json, moment, print_row
from interlock_client.cli._server import Key, Url, User, load_config, refusals, run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import TypeVar

    from interlock_client.client import Interlock
    from interlock_client.policy import PolicyDecision, PolicyProblem

    T = TypeVar("T")

File = Annotated[str, typer.Argument(metavar="FILE", help="The policy, as TOML or JSON; - reads standard input.")]
Expected = Annotated[
    str | None,
    typer.Option(metavar="VERSION", help="Refuse if another version is active; or `none`. [default: the active one]"),
]

policy = typer.Typer(
    help="Policies: rules that decide which asks need no person. For admins.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@policy.command()
def check(file: File, url: Url = None, key: Key = None, user: User = None) -> None:
    """Check a policy: its form, its conditions and its own tests. Exit code 1 if it cannot be used."""
    found = _run(file, lambda client, text: client.check_policy(text), url, key, user)
    _print_problems(file, found.problems)
    if not found.usable:
        raise typer.Exit(1)
    typer.echo(f"{file}: {found.rules} rules, {found.tests} tests pass")


@policy.command("test")
def run_tests(file: File, url: Url = None, key: Key = None, user: User = None) -> None:
    """Run the tests of a policy. Exit code 1 if one fails, or none can be run."""
    found = _run(file, lambda client, text: client.check_policy(text), url, key, user)
    failed = [one for one in found.problems if one.test is not None]
    _print_problems(file, [one for one in found.problems if not one.warning])
    if not found.usable and not failed:
        _fail("the tests were not run: mend the policy first")
    typer.echo(f"{found.tests - len(failed)} of {found.tests} tests pass")
    if failed:
        raise typer.Exit(1)


@policy.command("try")
def try_(
    file: File,
    facts: Annotated[str, typer.Argument(help='A JSON object: {"tool": "refund", "args": {"amount": 900.0}}.')],
    json: Json = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Show what a policy decides for the given facts."""
    from pydantic import ValidationError

    from interlock_client.policy import PolicyFacts

    try:
        given = PolicyFacts.model_validate_json(facts)
    except ValidationError as error:
        why = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'FACTS'}: {one['msg']}" for one in error.errors())
        raise typer.BadParameter(why, param_hint="FACTS") from None
    found = _run(file, lambda client, text: client.try_policy(text, given), url, key, user)
    if json:
        end_with_json(found)
    _print_decision(found)


@policy.command()
def replay(
    file: File,
    since: Annotated[str | None, typer.Option(metavar="MOMENT", help="Only requests settled since then.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many requests to look at, newest first.")
    ] = 10_000,
    json: Json = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Evaluate a policy for the recorded requests, without changes. Calls it allows and a person refused come first."""
    begin = moment("--since", since)
    found = _run(file, lambda client, text: client.replay_policy(text, since=begin, limit=limit), url, key, user)
    if json:
        end_with_json(found)
    risky = sum(row.count for row in found.rows if (row.happened, row.then) == ("refused", "allow"))
    typer.echo(f"{risky}\twould be allowed, and a person refused")
    for row in found.rows:
        typer.echo(f"{row.count}\t{row.happened}\twould be {_WOULD[row.then]}")
        for sample in row.samples if (row.happened, row.then) == ("refused", "allow") else ():
            print_row("", sample.request_id, sample.tool, sample.action, sample.answered_by or "-", sample.rule or "-")
    typer.echo(f"{found.asks_saved} asks saved, {found.asks_added} added, of {found.looked_at} requests")
    for name, count in found.errors.items():
        print_row(f"{name or 'the policy'} could not be evaluated {count} times")
    for why, count in found.not_replayed.items():
        print_row(f"{count} not replayed: {why}")
    if not found.whole:
        typer.echo("there are older requests: --limit looks at more")


@policy.command()
def push(
    file: File,
    note: Annotated[str, typer.Option(help="Reason for this version, shown in the history.")] = "",
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Save a policy as the next version, and print its number. It decides nothing until it is activated."""
    found = _run(file, lambda client, text: client.save_policy(text, note), url, key, user)
    _print_problems(file, found.problems)
    typer.echo(found.version)


@policy.command()
def activate(
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Its number; `none`: no version is active.")],
    expected: Expected = None,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Activate a version, also an older one. It decides all requests that are asked from now on."""
    number, before = _number(version, "VERSION"), None if expected is None else (_number(expected, "--expected"),)

    async def work(client: "Interlock") -> "tuple[int | None, int | None]":
        present = before[0] if before else (await client.policies(limit=1)).active
        return present, (await client.activate_policy(number, expected=present)).active

    was, now = run(load_config(url, key, user), work)
    typer.echo(f"{_version_name(now)} counts now; before: {_version_name(was)}")


@policy.command()
def history(json: Json = False, url: Url = None, key: Key = None, user: User = None) -> None:
    """List the saved versions, newest first, and show which is active."""
    found = run(load_config(url, key, user), lambda client: client.policies(limit=200))
    if json:
        end_with_json(found)
    for one in found.versions:
        marks = [word for word, number in (("active", found.active), ("shadow", found.shadow)) if number == one.version]
        print_row(str(one.version), ",".join(marks) or "-", one.created_at.isoformat(), one.by, one.note)


@policy.command()
def explain(
    request_id: Annotated[str, typer.Argument(metavar="ID", help="The request.")],
    json: Json = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Show why a request went to people, or why not. Not only for admins."""
    found = run(load_config(url, key, user), lambda client: client.explain(request_id))
    if json:
        end_with_json(found)
    typer.echo(f"version: {found.version or '-'}{'' if found.recorded else ' (by when it was asked)'}")
    _print_decision(found)
    if found.condition:
        print_row(f"condition: {found.condition}")
    if not found.whole:
        typer.echo("other rules are shown to admins")


@policy.command()
def shadow(
    version: Annotated[
        str | None, typer.Argument(metavar="[VERSION]", help="Its number, or `off`. [default: show the differences]")
    ] = None,
    json: Json = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Evaluate a version in addition to the active one. Its decisions are recorded, and change nothing."""
    config = load_config(url, key, user)
    if version is None:
        _report_shadow(config, json)
        return
    number = None if version == "off" else _number(version, "VERSION")

    async def work(client: "Interlock") -> "int | None":
        present = (await client.policies(limit=1)).shadow
        return (await client.shadow_policy(number, expected=present)).shadow

    typer.echo(f"{_version_name(run(config, work))} is in shadow now")


def _report_shadow(config: Any, json: bool) -> None:
    async def work(client: "Interlock") -> Any:
        present = (await client.policies(limit=1)).shadow
        return None if present is None else await client.shadow_report(present)

    if (found := run(config, work)) is None:
        _fail("no version is in shadow")
    if json:
        end_with_json(found)
    typer.echo(f"version {found.version}: differs on {found.differ} of {found.looked_at} requests")
    for row in found.rows:
        typer.echo(f"{row.count}\t{row.active}\twould be {_WOULD[row.shadow]}")
        for one in row.samples:
            print_row("", one.request_id, one.tool, one.agent, one.active_rule or "-", one.rule or "-")


_WOULD = {"allow": "allowed", "deny": "denied", "ask": "asked"}
_BECAUSE = {
    "rule": "a rule decides",
    "no_rule": "no rule applies",
    "not_evaluated": "a rule could not be evaluated, so nothing is allowed",
    "wants_person": "a rule would allow it, but whoever asked wants a person",
    "no_policy": "no version counted",
    "not_judged": "policies say nothing of such requests",
}


def _run(
    file: str,
    work: "Callable[[Interlock, str], Awaitable[T]]",
    url: str | None,
    key: str | None,
    user: str | None,
) -> "T":
    """With the text of the file; a policy that the server refuses is told of line by line."""
    from interlock_client.errors import InvalidInput

    text = _read(file)

    async def ask(client: "Interlock") -> "T | InvalidInput":
        try:
            return await work(client, text)
        except InvalidInput as error:
            if not error.errors:
                raise
            return error

    found = run(load_config(url, key, user), ask)
    if not isinstance(found, InvalidInput):
        return found
    for one in found.errors:
        print_row(
            f"{_place(file, one.field.removeprefix('text, line ') if 'line' in one.field else None)} {one.message}"
        )
    with refusals():
        raise found


def _read(file: str) -> str:
    try:
        # Bytes, as they were written: universal newlines would count other lines than an editor does.
        return (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode()
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="FILE") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} is not UTF-8", param_hint="FILE") from None


def _print_problems(file: str, problems: "Iterable[PolicyProblem]") -> None:
    for one in problems:
        rule = f"{one.rule}: " if one.rule else ""
        line = None if one.line is None else str(one.line)
        print_row(f"{_place(file, line)} {'warning: ' if one.warning else ''}{rule}{one.message}", err=True)


def _place(file: str, line: str | None) -> str:
    return f"{file}:" if line is None else f"{file}:{line}:"


def _print_decision(found: "PolicyDecision") -> None:
    print_row(f"{found.then}: {_BECAUSE[found.because]}{f': {found.rule}' if found.rule else ''}")
    if others := [name for name in found.matches if name != found.rule]:
        print_row(f"also apply: {', '.join(others)}")
    for error in found.errors:
        print_row(f"not evaluated: {f'{error.rule}: ' if error.rule else ''}{error.reason}")
    for one in found.facts:
        print_row(f"{one.name} = {'(there is none)' if one.value is None else one.value}")


def _number(text: str, hint: str) -> int | None:
    if text == "none":
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 2**31:
        raise typer.BadParameter(f"{text!r} is no number of a version", param_hint=hint)
    return int(text)


def _version_name(number: int | None) -> str:
    return "no version" if number is None else f"version {number}"


def _fail(why: str) -> NoReturn:
    typer.echo(f"interlock: {why}", err=True)
    raise typer.Exit(1)
