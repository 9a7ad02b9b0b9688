"""Interlock's own sentences about a request: its risk, its time, what remembering means, who settled it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol, Self

from interlock_client.cli.terminal.open_request import Kind, OpenRequest
from interlock_client.cli.terminal.revealing import json_text
from interlock_client.events import InboxSettled
from interlock_client.hook.requests import AT_TERMINAL
from interlock_client.visible import visible

SOON = 120.0
LONGEST = 300
"""Characters of an answer that is told of in one line."""

RISKS: Mapping[str, str] = {"low": "○ low", "medium": "◆ medium", "high": "▲ HIGH", "critical": "▲▲ CRITICAL"}
KINDS: Mapping[Kind, str] = {
    "approval": "approval",
    "clarification": "question",
    "decision": "decision",
    "env_var": "values",
    "questions": "questions",
}

Scope = Literal["this_action", "this_tool", "all_tools"]
Duration = Literal["session", "forever"]


@dataclass(frozen=True, slots=True)
class Remember:
    sentence: str
    scope: Scope | None = None
    duration: Duration | None = None
    may_raise: bool = False
    """Whether it can be for high risk too: else it covers no higher risk than that of the call."""
    also_high_risk: bool = False

    @property
    def response(self) -> dict[str, Any]:
        """What it adds to an answer."""
        if self.scope is None:
            return {}
        high = {"also_high_risk": True, "confirm_high_risk": True} if self.also_high_risk else {}
        return {"remember": True, "scope": self.scope, "duration": self.duration, **high}

    def with_high_risk(self) -> Self:
        return replace(self, sentence=f"{self.sentence}, also for high-risk calls", also_high_risk=True)


HIGH_RISK = ("HIGH RISK",)
"""What has to be typed before calls of high risk are let run unasked."""
ONCE = Remember("Only this time")


def one_line(text: str) -> str:
    """A name or a few words in one line."""
    return visible(text, keep="")


def risk(waiting: OpenRequest) -> str:
    return RISKS.get(waiting.risk, f"▲ {one_line(waiting.risk)}") if waiting.risk else ""


def heading(waiting: OpenRequest) -> str:
    return f"{one_line(waiting.tool)} wants to run" if waiting.kind == "approval" else f"{one_line(waiting.asker)} asks"


def age(seconds: float) -> str:
    return _round(max(seconds, 0.0))


def time_left(seconds: float) -> str:
    if seconds <= 0:
        return "0:00"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}" if seconds < SOON else _round(seconds)


def _round(seconds: float) -> str:
    if seconds < 60:
        return f"{int(seconds)} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min"
    return f"{int(seconds // 3600)} h" if seconds < 86400 else f"{int(seconds // 86400)} d"


def deadline(waiting: OpenRequest) -> str:
    """What happens when nobody answers."""
    if waiting.expires_at is None:
        return "No deadline: the agent waits until someone answers."
    default = waiting.data.get("default_answer") or waiting.data.get("default")
    what = f"the agent is given its default, {one_line(str(default))!r}" if default else "the agent is told so"
    return f"If nobody answers by {moment(waiting.expires_at)}, {what}."


def moment(at: datetime) -> str:
    local = at.astimezone()
    return f"{local:%H:%M:%S}" if local.date() == datetime.now().astimezone().date() else f"{local:%Y-%m-%d %H:%M}"


def remember_choices(waiting: OpenRequest, *, allow: bool) -> list[Remember]:
    """How an answer may be remembered; of a risky call only the very same one is allowed again."""
    if waiting.kind != "approval" or not waiting.data.get("allow_remember") or waiting.people is not None:
        # Who may answer what is put to people is named for each call.
        return [ONCE]
    verb, tool = ("allow" if allow else "refuse"), one_line(waiting.tool)
    whats: dict[Scope, str] = {"this_action": f"exactly this {tool} call"}
    if not (allow and waiting.is_risky):
        whats |= {"this_tool": f"{tool}, any arguments,", "all_tools": "every tool, any arguments,"}
    ends: dict[Duration, str] = {
        "session": "in this conversation",
        "forever": f"in all {owner_phrase(waiting.owner)} with this agent until revoked",
    }
    return [
        ONCE,
        *(
            Remember(f"Always {verb} {what} {end}", scope, duration, allow and scope != "this_action")
            for scope, what in whats.items()
            for duration, end in ends.items()
        ),
    ]


def owner_phrase(owner: str) -> str:
    """A grant is the owner's, whoever gives it."""
    return f"of {one_line(owner)}'s conversations" if owner else "conversations of its owner"


class Outcome(Protocol):
    @property
    def response(self) -> Mapping[str, Any] | None: ...
    @property
    def answered_by(self) -> str | None: ...
    @property
    def answered_at(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...


class InboxEnd:
    """An end that the inbox tells of, in the words of the hitl face."""

    def __init__(self, event: InboxSettled) -> None:
        self.answered_by, self.answered_at, self.source = event.answered_by, event.answered_at, event.source
        self.response = event.value
        if event.entry.kind == "approval" and event.value is not None:
            decision, message = event.value["decision"], event.value.get("message")
            message_field = {"reply" if decision == "response" else "reason": message} if message else {}
            args = {"args": event.value["args"]} if decision == "edit" else {}
            self.response = {"granted": decision in ("accept", "edit"), **args, **message_field}


def end_text(event: InboxSettled) -> str:
    if event.status == "cancelled" and event.reason == AT_TERMINAL:
        return at_terminal(event.answered_at)
    return outcome(InboxEnd(event), event.status)


def at_terminal(answered_at: str | None) -> str:
    """Withdrawn by a coding agent, which had asked somebody at its own terminal too."""
    return f"It was answered at the agent's terminal{_at(answered_at)}, and withdrawn here."


def _at(answered_at: str | None) -> str:
    return f" at {moment(datetime.fromisoformat(answered_at))}" if answered_at else ""


def outcome(settled: Outcome, status: str) -> str:
    """Who settled it, how and when."""
    at = _at(settled.answered_at)
    if status == "expired":
        return f"It expired{at}: nobody answered{_answer_phrase(settled.response)}."
    by = one_line(settled.answered_by or "somebody")
    through = f" ({one_line(settled.source)})" if settled.source else ""
    return f"{by} {_verb(settled.response, status)} this{at}{through}{_answer_phrase(settled.response)}."


def _answer_phrase(response: Mapping[str, Any] | None) -> str:
    """With what, where the verb does not say it."""
    rest = {name: value for name, value in (response or {}).items() if name not in ("granted", "save")}
    text = json_text(next(iter(rest.values())) if len(rest) == 1 else rest, indent=None) if rest else ""
    return f": {text if len(text) <= LONGEST else text[:LONGEST] + '…'}" if text else ""


def _verb(response: Mapping[str, Any] | None, status: str) -> str:
    if status == "cancelled":
        return "cancelled"
    if response is None or "granted" not in response:
        return "answered"
    if response["granted"]:
        return "approved an edit of" if "args" in response else "approved"
    return "replied to" if "reply" in response else "refused"
