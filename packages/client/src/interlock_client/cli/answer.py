"""`interlock answer`: one answer, given by a script or by hand."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from interlock_client.cli._server import Key, Url, User, hidden_prompt, load_config, run, system_language

if TYPE_CHECKING:
    from interlock_client.cli.terminal.team_wording import TeamWording
    from interlock_client.client import Interlock
    from interlock_client.hitl import Answered, VoteCount
    from interlock_client.teams import Votes

COUNTED = 3
"""The exit code after a vote that is not the last one."""
DURATIONS = ("session", "forever")
SCOPES = ("this_action", "this_tool", "all_tools")
GOES_WITH: Mapping[str, tuple[str, ...]] = {
    "--args": ("--yes",),
    "--code": ("--yes",),
    "--reason": ("--no", "--decision", "--cancel"),
    "--remember": ("--yes", "--no"),
    "--also-high-risk": ("--yes",),
    "TEXT": ("--answers",),
    "--save": ("--value",),
}

Id = Annotated[str, typer.Argument(metavar="ID", help="The request.")]
Texts = Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="With --answers.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approval: approve the call as shown.")]
No = Annotated[bool, typer.Option("--no", help="Approval: reject the call.")]
Reply = Annotated[str | None, typer.Option(help="Approval: reply to the agent instead of running the tool.")]
Args = Annotated[
    str | None, typer.Option(help="With --yes: other arguments, as a JSON object; - reads standard input.")
]
Text = Annotated[str | None, typer.Option(help="Question: an answer in your own words.")]
Option = Annotated[str | None, typer.Option(help="Question: one of its options.")]
Json = Annotated[
    str | None,
    typer.Option(
        "--json", help='Question of a graph that accepts any JSON: false, {"text": "no"}, ...; - reads standard input.'
    ),
]
Answers = Annotated[bool, typer.Option("--answers", help="Several questions: one TEXT for each.")]
Decision = Annotated[str | None, typer.Option(help="Decision: the key of an option.")]
Value = Annotated[
    list[str] | None,
    typer.Option(help="Values: NAME; its value is prompted for, or read from a line of standard input. Repeatable."),
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow --value NAME=VALUE, which others on this machine can see.")
]
Save = Annotated[bool, typer.Option("--save", help="With --value: save the values, encrypted, for later asks.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="Do not answer; the agent gets 'not answered'.")]
Reason = Annotated[str | None, typer.Option(help="With --no, --decision or --cancel: the reason.")]
Duration = Annotated[str | None, typer.Option(help="With --yes or --no: remember the answer: session or forever.")]
Scope = Annotated[
    str | None, typer.Option(help="With --remember: this_action, this_tool or all_tools. [default: this_action]")
]

AlsoHighRisk = Annotated[
    bool,
    typer.Option(
        "--also-high-risk",
        help="With --remember and --scope this_tool or all_tools: also cover high-risk calls. Asks for confirmation.",
    ),
]
OverClaim = Annotated[bool, typer.Option("--over-claim", help="Answer even if somebody else has claimed the request.")]
Code = Annotated[str | None, typer.Option(help="With --yes: the request's four digits, if its rule requires them.")]
TakeBack = Annotated[bool, typer.Option("--take-back", help="Take back your yes while more people must say yes.")]
ConfirmHighRisk = Annotated[
    bool, typer.Option("--confirm-high-risk", help="With --also-high-risk, without a terminal: confirm it.")
]


def answer(
    request_id: Id,
    texts: Texts = None,
    yes: Yes = False,
    no: No = False,
    reply: Reply = None,
    args: Args = None,
    text: Text = None,
    option: Option = None,
    json: Json = None,
    answers: Answers = False,
    decision: Decision = None,
    value: Value = None,
    insecure: Insecure = False,
    save: Save = False,
    cancel: Cancel = False,
    take_back: TakeBack = False,
    reason: Reason = None,
    remember: Duration = None,
    scope: Scope = None,
    also_high_risk: AlsoHighRisk = False,
    confirm_high_risk: ConfirmHighRisk = False,
    over_claim: OverClaim = False,
    code: Code = None,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Answer one request. Exit code 0: answered; 1: refused by the server, with the reason; 2: bad usage; 3: your
    yes is counted, but more people must say yes."""
    acts = {"--yes": yes, "--no": no, "--reply": reply, "--text": text, "--option": option, "--json": json}
    acts |= {"--answers": answers, "--decision": decision, "--value": value or None, "--cancel": cancel}
    act = _single(acts | {"--take-back": take_back})
    more = {
        "--code": code,
        "--args": args,
        "--reason": reason,
        "--remember": remember,
        "--also-high-risk": also_high_risk,
    }
    more |= {"TEXT": texts, "--save": save}
    _check(act, {name for name, given in more.items() if given not in (None, False, [])})
    response: dict[str, Any] = _response(act, text=text, option=option, reply=reply, decision=decision, reason=reason)
    response |= _remember_fields(remember, scope, has_args=args is not None) | _edit(args)
    response |= {"answers": texts or []} if answers else {}
    response |= {} if json is None else {"answer": _read("--json", json)}
    response |= _values(value or [], insecure=insecure, save=save)
    response |= _high_risk(response, is_said=also_high_risk, is_confirmed=confirm_high_risk)
    response |= {} if code is None else {"code": code}
    config = load_config(url, key, user)
    if take_back:
        _tell_count(request_id, "taken back", run(config, lambda client: client.withdraw_vote(request_id)))
    elif cancel:
        run(config, lambda client: client.cancel(request_id, reason))
        typer.echo(f"{request_id} is cancelled")
    else:
        _tell(request_id, response, *run(config, _make_sender(request_id, response, over_claim=over_claim)))


def _make_sender(
    request_id: str, response: dict[str, Any], *, over_claim: bool
) -> "Callable[[Interlock], Awaitable[tuple[Answered, str | None]]]":
    """Gives what became of it, and whose grant it is, where it stands for more than this conversation."""
    from interlock_client.errors import Conflict, InvalidInput

    async def work(client: "Interlock") -> "tuple[Answered, str | None]":
        try:
            answered = await client.respond(
                request_id, response, metadata={"client": "interlock answer"}, over_claim=over_claim
            )
        except InvalidInput as error:
            if "granted" in response and (await client.request(request_id)).request_data.get("free"):
                message = "this is a question of a graph, not an approval: for yes use --json true, for no --json false"
                raise InvalidInput(message, code=error.code, status=error.status) from error
            raise
        except Conflict as error:
            if error.details.get("alias") != "CLAIMED":
                raise
            message = f"{_claim_text(error.details)} --over-claim answers it all the same"
            raise Conflict(message, code=error.code, status=error.status, details=error.details) from error
        is_wide = response.get("duration") == "forever"
        return answered, (await client.request(request_id)).owner if is_wide else None

    return work


def _claim_text(details: Mapping[str, Any]) -> str:
    from datetime import datetime

    from interlock_client.cli.terminal.wording import moment

    until = moment(datetime.fromisoformat(details["claimed_until"]))
    return _wording().text("claim of", by=details["claimed_by"], time=until)


def _tell(request_id: str, response: Mapping[str, Any], answered: "Answered", owner: str | None) -> None:
    if answered.status == "pending" and answered.votes is not None:
        _tell_count(request_id, "yes is in" if response.get("granted") else "no is in", answered.votes)
        raise typer.Exit(COUNTED)
    typer.echo(f"{request_id} is answered")
    _print_owner(owner)


def _tell_count(request_id: str, key: str, votes: "VoteCount | Votes") -> None:
    typer.echo(f"{request_id}: {_wording().text(key, yes=votes.yes, needed=votes.needed)}")


def _wording() -> "TeamWording":
    from interlock_client.cli.terminal.team_wording import TeamWording, language_of

    return TeamWording(language_of(system_language()))


def _print_owner(owner: str | None) -> None:
    from interlock_client.cli.terminal.wording import owner_phrase

    if owner is not None:
        typer.echo(f"It stands in all {owner_phrase(owner)} with this agent until revoked.")


def _single(acts: Mapping[str, Any]) -> str:
    chosen = [name for name, given in acts.items() if given not in (None, False)]
    if len(chosen) != 1:
        raise typer.BadParameter(f"give one of {', '.join(acts)}" + (f", not {' and '.join(chosen)}" * bool(chosen)))
    return chosen[0]


def _check(act: str, given: set[str]) -> None:
    for option, acts in GOES_WITH.items():
        if option in given and act not in acts:
            raise typer.BadParameter(f"{option} goes with {' or '.join(acts)}")


def _response(act: str, **given: str | None) -> dict[str, Any]:
    why = {"reason": given["reason"]} if given["reason"] else {}
    responses: dict[str, dict[str, Any]] = {
        "--yes": {"granted": True},
        "--no": {"granted": False, **why},
        "--reply": {"granted": False, "reply": given["reply"]},
        "--text": {"answer": given["text"]},
        "--option": {"selected_option": given["option"]},
        "--decision": {"decision": given["decision"], **why},
    }
    return responses.get(act, {})


def _remember_fields(duration: str | None, scope: str | None, *, has_args: bool) -> dict[str, Any]:
    if duration is None:
        if scope is not None:
            raise typer.BadParameter("--scope goes with --remember")
        return {}
    if has_args:
        raise typer.BadParameter("an edited call is not remembered: leave --remember or --args out")
    if duration not in DURATIONS or (scope or SCOPES[0]) not in SCOPES:
        raise typer.BadParameter(f"--remember is {' or '.join(DURATIONS)}, --scope one of {', '.join(SCOPES)}")
    return {"remember": True, "duration": duration, "scope": scope or SCOPES[0]}


def _high_risk(response: Mapping[str, Any], *, is_said: bool, is_confirmed: bool) -> dict[str, Any]:
    from interlock_client.cli.terminal.wording import HIGH_RISK

    if not is_said and not is_confirmed:
        return {}
    if not is_said:
        raise typer.BadParameter("--confirm-high-risk goes with --also-high-risk")
    if response.get("scope") not in ("this_tool", "all_tools"):
        raise typer.BadParameter("--also-high-risk goes with --remember, and with --scope this_tool or all_tools")
    word = HIGH_RISK[0]
    if not is_confirmed and sys.stdin.isatty():
        is_confirmed = typer.prompt(f"High-risk calls will run and nobody be asked. Type {word}") == word
    if not is_confirmed:
        raise typer.BadParameter("high-risk calls would run and nobody be asked: add --confirm-high-risk")
    return {"also_high_risk": True, "confirm_high_risk": True}


def _edit(args: str | None) -> dict[str, Any]:
    if args is None:
        return {}
    found = _read("--args", args)
    if not isinstance(found, dict):
        raise typer.BadParameter('--args is a JSON object: {"name": ...}')
    return {"args": cast("dict[str, Any]", found)}


def _read(option: str, given: str) -> Any:
    from interlock_client.cli.terminal.editing import NotJson, read_any

    try:
        return read_any(sys.stdin.read() if given == "-" else given)
    except NotJson as error:
        raise typer.BadParameter(f"{option} is no JSON: {error}") from error


def _values(pairs: list[str], *, insecure: bool, save: bool) -> dict[str, Any]:
    if not pairs:
        return {}
    values: dict[str, str] = {}
    for one in pairs:
        name, has_value, value = one.partition("=")
        if has_value and not insecure:
            # Not repeated here: it may be a secret.
            raise typer.BadParameter(
                f"--value {name}=...: others can see it. Leave the value out and type it, or add --insecure"
            )
        values[name] = value if has_value else _prompt_for(name)
    return {"values": values, **({"save": True} if save else {})}


def _prompt_for(name: str) -> str:
    if sys.stdin.isatty():
        return hidden_prompt(name)
    line = sys.stdin.readline()
    if not line:
        raise typer.BadParameter(f"standard input ended before the value of {name}")
    return line.rstrip("\r\n")
