"""Requests as they are written: from what was asked to a row that people see, with its deadline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from interlock.domain.canonical import digest
from interlock.domain.event import EventType
from interlock.domain.ids import new_id
from interlock.domain.request import ID_PREFIX, Pause, Request, RequestKind, RequestStatus, described
from interlock.domain.risk import risk_of
from interlock.domain.thread import CONFIRM, Thread
from interlock.services.core import Policy
from interlock.services.run_log import Entry

_DESCRIBING = ("tool_name", "tool_display_name", "description", "risk_level", "tool_schema")
LONGEST_WARNING = 60.0
"""Seconds before the deadline at which people are warned, for asks that leave more time than that."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it was read from a graph, or came over the wire."""

    kind: RequestKind
    body: Mapping[str, Any]
    interrupt_id: str | None = None
    form: Mapping[str, Any] | None = None
    call_id: str | None = None
    message_id: str | None = None
    digest: str | None = None
    definition: str | None = None
    """For an approval: the digest of the tool's definition, where the tool is known."""
    toolset: str | None = None
    """For an approval: the digest of all tools of the agent, where they are known."""
    timeout: float | None = None


def new_request(policy: Policy, now: datetime, thread: Thread, pause: Pause, position: int, asked: Asked) -> Request:
    timeout = asked.timeout
    is_approval = asked.kind is RequestKind.APPROVAL
    if is_approval and timeout is None and not thread.is_outside:
        timeout = policy.confirmation_timeout if thread.face == CONFIRM else policy.approval_timeout
    deadline = None if timeout is None else now + timedelta(seconds=timeout)
    return Request(
        new_id(ID_PREFIX[asked.kind]),
        pause.id,
        pause.thread_id,
        asked.kind,
        RequestStatus.PENDING,
        position,
        _body(policy, thread, asked),
        now,
        interrupt_id=asked.interrupt_id,
        form=dict(asked.form or {}),
        call_id=asked.call_id,
        message_id=asked.message_id,
        digest=asked.digest,
        definition=_definition(thread, asked) if is_approval else None,
        toolset=asked.toolset,
        timeout_seconds=timeout,
        deadline=deadline,
        warn_at=None if deadline is None or timeout is None else deadline - warning_before(timeout),
        owner_id=thread.owner_id,
        agent=thread.agent,
    )


def _body(policy: Policy, thread: Thread, asked: Asked) -> dict[str, Any]:
    if asked.kind is not RequestKind.APPROVAL:
        return dict(asked.body)
    configured = policy.risks.get(asked.body["tool_name"])
    risk = risk_of(asked.body["risk_level"], configured, is_outside=thread.is_outside)
    # Where nothing is known that could change, nothing can be remembered.
    allow_remember = asked.body["allow_remember"] and _definition(thread, asked) is not None
    return {**asked.body, "risk_level": risk, "allow_remember": allow_remember}


def _definition(thread: Thread, asked: Asked) -> str | None:
    """By what a remembered answer knows the tool again: of an agent that runs elsewhere, who asks and what it says."""
    return _described_definition(thread, asked.body) if thread.is_outside else asked.definition


def pause_opened(pause: Pause, requests: Sequence[Request], settled: Sequence[str] = ()) -> Entry:
    """The event that tells of a pause; `settled` names what was answered in the same moment, without a person."""
    data: dict[str, Any] = {
        "pause_id": pause.id,
        "node": pause.node,
        "requests": [described(request) for request in requests],
    }
    return EventType.PAUSE_OPENED, data | ({"settled": list(settled)} if settled else {})


def warning_before(timeout: float) -> timedelta:
    return timedelta(seconds=min(LONGEST_WARNING, timeout / 5))


def _described_definition(thread: Thread, body: Mapping[str, Any]) -> str:
    """Where the tool itself is not known: what the ask says of it, apart from the call, and the key that says it.

    The key, not the agent's name: that one can be given to another key, also after this one was revoked.
    """
    described = {name: body.get(name) for name in _DESCRIBING}
    return digest({"asker": thread.asker_id, **described})
