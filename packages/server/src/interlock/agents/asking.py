"""Asking a person from inside a hosted graph: what `interlock.ask` offers.

Each function may be called in any node or tool, sync or async. The first time it ends the attempt with an interrupt;
when the answer is there, the node or tool is entered again and the function returns it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langgraph.types import interrupt

from interlock.agents.context import current
from interlock.domain import asks
from interlock.domain.asks import DEFAULT_TIMEOUT
from interlock.domain.canonical import plain
from interlock.domain.request import RequestKind
from interlock.domain.translation import Texts

ASK = "interlock"
"""The key by which the runner knows an interrupt value as one of these asks."""

ApprovalDecision = Literal["accept", "reject", "edit", "response"]


class NotAnswered(Exception):
    """Nobody answered: the request expired or was cancelled, and the ask named no default."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Decision:
    decision: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Approval:
    decision: ApprovalDecision
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The arguments to run with: those that were shown, or the person's edit."""
    message: str = ""


def clarification(
    question: str,
    options: Sequence[str] = (),
    allow_custom: bool = True,
    default: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> str:
    body = asks.clarification(question, options, allow_custom=allow_custom, default=default)
    return cast("str", _ask(RequestKind.CLARIFICATION, body, timeout)["answer"])


def decision(
    title: str,
    options: Sequence[str | Mapping[str, Any]],
    description: str = "",
    risks: Sequence[str] = (),
    decision_type: str = "custom",
    default: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> Decision:
    body = asks.decision(
        title, options, description=description, risks=risks, decision_type=decision_type, default=default
    )
    value = _ask(RequestKind.DECISION, body, timeout)
    return Decision(value["decision"], value.get("reason", ""))


def env_vars(
    fields: Sequence[str | Mapping[str, Any]], allow_save: bool = True, timeout: float | None = DEFAULT_TIMEOUT
) -> dict[str, str]:
    """The values by name. They are read from the server's vault here, and are in no checkpoint, log or event."""
    value = _ask(RequestKind.ENV_VAR, asks.env_vars(fields, allow_save=allow_save), timeout)
    run = current.get()
    given: dict[str, str] = dict(value["values"])
    for name, handle in value["handles"].items():
        if run is None or handle not in run.secrets:
            raise NotAnswered(f"the value of {name} is no longer kept")
        given[name] = run.secrets[handle]
    return given


def questions(items: Sequence[str | Mapping[str, Any]], timeout: float | None = DEFAULT_TIMEOUT) -> list[str]:
    return list(_ask(RequestKind.QUESTIONS, asks.questions(items), timeout)["answers"])


def approval(
    tool_name: str,
    args: Mapping[str, Any],
    description: str = "",
    risk_level: str | None = "medium",
    allow_remember: bool = True,
    timeout: float | None = DEFAULT_TIMEOUT,
    *,
    display_name: Texts | None = None,
    allowed: Sequence[str] = asks.APPROVAL_DECISIONS,
    call_id: str | None = None,
    definition: str | None = None,
) -> Approval:
    body = asks.approval(
        tool_name,
        args,
        description=description,
        risk_level=risk_level,
        display_name=display_name,
        allow_remember=allow_remember,
        allowed=allowed,
    )
    value = _ask(RequestKind.APPROVAL, body, timeout, call_id=call_id, definition=definition)
    return Approval(value["decision"], _allowed_args(args, value), value.get("message", ""))


def _allowed_args(args: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The person's edit, else what was shown: code that is run again may have made up other arguments meanwhile."""
    if (edited := value.get("args")) is not None:
        return edited
    shown: Mapping[str, Any] = value.get("shown", args)
    return dict(args) if plain(dict(args)) == shown else shown


def _ask(kind: RequestKind, body: dict[str, Any], timeout: float | None, **more: str | None) -> dict[str, Any]:
    told: dict[str, Any] = interrupt({ASK: {"kind": kind.value, "body": body, "timeout": timeout, **more}})
    if told.get("value") is None:
        raise NotAnswered(told.get("reason") or str(told.get("status")))
    return cast("dict[str, Any]", told["value"])
