"""Asking a person from inside a hosted graph: what `interlock.ask` offers.

Each function may be called in any node or tool, sync or async. The first time it ends the attempt with an interrupt;
when the answer is there, the node or tool is entered again and the function returns it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt, interrupt

from interlock.agents._langgraph import Persistence, persistence_now
from interlock.agents._langgraph_asks import Positions
from interlock.agents.ask_record import ASK, AskRecord
from interlock.agents.context import current, here
from interlock.domain.canonical import plain
from interlock.domain.kinds import ApprovalBody, Body, ClarificationBody, DecisionBody, EnvVarBody, QuestionsBody
from interlock.domain.kinds.approval import APPROVAL_DECISIONS, ApprovalDecision
from interlock.domain.kinds.kind import Texts

DEFAULT_TIMEOUT = 300.0

REACHES_NOBODY = (
    "since its graph was called with a thread_id of its own: call it without, so that the run keeps it and its asks "
    "reach people, or let the tool or node that calls it ask in its stead"
)


def refusal_text(tool: str, reason: str) -> str:
    """What the model is told in place of the result of a call that a person refused."""
    why = f" Reason: {reason}" if reason else ""
    return f"A person refused this call of {tool}; it was not run.{why}"


class NotAnswered(Exception):
    """Nobody answered: the request expired or was cancelled, and the ask named no default."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EffectSkipped(Exception):
    """An `interlock.effect` was cut short by a crash, and the person who was asked did not have it run again.

    Whether it took effect is not known, and there is no result: any value in its place might count as a yes.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.reason = f"{key} was cut short by a crash and is not run again; whether it took effect is not known"
        super().__init__(f"{self.reason}: catch interlock.EffectSkipped to go on without its result")


@dataclass(frozen=True, slots=True)
class Decision:
    decision: str
    reason: str = ""

    def __bool__(self) -> bool:
        # Every choice, a refusal too, would read as a yes.
        raise TypeError("a decision is neither true nor false: compare its .decision with the key of an option")


@dataclass(frozen=True, slots=True)
class Approval:
    decision: ApprovalDecision
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The arguments to run with: those that were shown, or the person's edit."""
    message: str = ""

    @property
    def granted(self) -> bool:
        return self.decision in ("accept", "edit")

    def __bool__(self) -> bool:
        return self.granted


def clarification(
    question: str,
    options: Sequence[str] = (),
    allow_custom: bool = True,
    default: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> str:
    body = ClarificationBody.ask(question, options, allow_custom=allow_custom, default=default)
    return cast("str", ask_body(body, timeout)["answer"])


def decision(
    title: str,
    options: Sequence[str | Mapping[str, Any]],
    description: str = "",
    risks: Sequence[str] = (),
    decision_type: str = "custom",
    default: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> Decision:
    body = DecisionBody.ask(
        title, options, description=description, risks=risks, decision_type=decision_type, default=default
    )
    value = ask_body(body, timeout)
    return Decision(value["decision"], value.get("reason", ""))


def env_vars(
    fields: Sequence[str | Mapping[str, Any]], allow_save: bool = True, timeout: float | None = DEFAULT_TIMEOUT
) -> dict[str, str]:
    """The values by name. They are read from the server's vault here, and are in no checkpoint, log or event."""
    value = ask_body(EnvVarBody.ask(fields, allow_save=allow_save), timeout)
    run = current.get()
    given: dict[str, str] = dict(value["values"])
    for name, handle in value["handles"].items():
        if run is None or handle not in run.secrets:
            raise NotAnswered(f"the value of {name} is no longer kept")
        given[name] = run.secrets[handle]
    return given


def questions(items: Sequence[str | Mapping[str, Any]], timeout: float | None = DEFAULT_TIMEOUT) -> list[str]:
    return list(ask_body(QuestionsBody.ask(items), timeout)["answers"])


def approval(
    tool_name: str,
    args: Mapping[str, Any],
    description: str = "",
    risk_level: str | None = "medium",
    allow_remember: bool = True,
    timeout: float | None = DEFAULT_TIMEOUT,
    *,
    display_name: Texts | None = None,
    allowed: Sequence[str] = APPROVAL_DECISIONS,
    call_id: str | None = None,
    definition: str | None = None,
) -> Approval:
    body = ApprovalBody.ask(
        tool_name,
        args,
        description=description,
        risk_level=risk_level,
        display_name=display_name,
        allow_remember=allow_remember,
        allowed=allowed,
    )
    value = ask_body(body, timeout, call_id=call_id, definition=definition)
    return Approval(value["decision"], _allowed_args(args, value), value.get("message", ""))


def _allowed_args(args: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The person's edit, else what was shown: code that is run again may have made up other arguments meanwhile."""
    if (edited := value.get("args")) is not None:
        return edited
    shown_args: Mapping[str, Any] = value.get("shown", args)
    return dict(args) if plain(dict(args)) == shown_args else shown_args


def ask_body(body: Body, timeout: float | None, **more: str | None) -> dict[str, Any]:
    if here("interlock.ask") is not None and persistence_now() is Persistence.APART:
        raise RuntimeError(f"this ask would be put to nobody, {REACHES_NOBODY}")
    ask = {"kind": body.kind.value, "body": body.to_json(), "timeout": timeout, **more}
    reply: dict[str, Any] = interrupt({ASK: ask})
    if reply.get("value") is None:
        raise NotAnswered(reply.get("reason") or str(reply.get("status")))
    return cast("dict[str, Any]", reply["value"])


def as_one(group: ExceptionGroup[Exception], *, is_tool: bool = False) -> Exception:
    """What the group says, where all of it are asks, or effects that were skipped; else the group.

    Asks that nobody has answered yet come before the others. A plain node sees the latter as they are.
    """
    run = current.get()
    leaves = list(_leaves(group))
    if run is None or not all(isinstance(one, GraphInterrupt | NotAnswered | EffectSkipped) for one in leaves):
        return group
    interrupts = [one for one in leaves if isinstance(one, GraphInterrupt)]
    if interrupts:
        return GraphInterrupt(
            tuple(_each_by_its_own_id([one for error in interrupts for one in error.args[0]], run.asks))
        )
    return leaves[0] if is_tool else group


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for one in group.exceptions:
        if isinstance(one, ExceptionGroup):
            yield from _leaves(cast("ExceptionGroup[Exception]", one))
        else:
            yield one


def _each_by_its_own_id(interrupts: list[Interrupt[Any]], asks: AskRecord) -> Iterator[Interrupt[Any]]:
    """Asks of one task in one attempt share an id, since none of them knows of the others."""
    positions = Positions()
    position = len(positions.ids)
    shared = positions.id_at(position)
    for one in interrupts:
        if one.id != shared:
            # Of a graph inside.
            yield one
            continue
        own = Interrupt[Any](one.value, positions.id_at(position), response_schema=one.response_schema)
        asks.rename(one, own)
        position += 1
        yield own
