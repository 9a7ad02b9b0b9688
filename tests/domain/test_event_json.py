"""Events as they are stored: each type comes back as it was, and so do those that older versions wrote."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain import event_json
from interlock.domain.event import (
    AssistantMessage,
    Custom,
    EventData,
    EventType,
    PauseOpened,
    RequestClaimed,
    RequestCommented,
    RequestExtended,
    RequestRouted,
    RequestSettled,
    RequestVoted,
    RunEnded,
    RunStarted,
    SettledCall,
    ThreadCreated,
    ThreadDeleted,
    ToolCall,
    ToolEnded,
    ToolStarted,
    UserMessage,
)
from interlock.domain.kinds import ApprovalAnswer, ClarificationAnswer, ClarificationBody, EnvVarAnswer, RequestKind
from interlock.domain.request import AnswerOrigin, PublicRequest, RequestStatus
from interlock.domain.run import RunCause, RunStatus

AT = datetime(2026, 11, 15, 12, 0, 0, 250, tzinfo=UTC)
ASKED = PublicRequest("clar_1", "p1", ClarificationBody.ask("Which?"), None, "m1", 60.5, AT, AT + timedelta(seconds=60))


def settled(kind: RequestKind, **more: object) -> RequestSettled:
    given: dict[str, object] = {
        "request_id": "r1",
        "pause_id": "p1",
        "kind": kind,
        "status": RequestStatus.ANSWERED,
        "value": None,
        "by": "ann",
        "source": "web",
        "origin": AnswerOrigin.PERSON,
        "at": AT,
    }
    return RequestSettled(**{**given, **more})  # pyright: ignore[reportArgumentType]


EVENTS: list[EventData] = [
    ThreadCreated("demo", "ann"),
    ThreadDeleted("ann", "u-ann", "demo", None),
    UserMessage("", "ann"),
    RequestVoted("r1", "p1", 1, 2),
    RequestVoted("r1", "p1", 1, 2, 1),
    RequestRouted("r1", "p1", ("payments", "ann"), 1, "ann", "please"),
    RequestClaimed("r1", "p1", "ann", AT),
    RequestClaimed("r1", "p1", None, None),
    RequestCommented("r1", "p1", "ann"),
    AssistantMessage("m1", "hello", (ToolCall(None, "send", {"to": ["bob"]}), ToolCall("c2", "send", {}))),
    AssistantMessage("m1", ""),
    ToolStarted("c1", "send", {"deep": {"list": [1, None]}}),
    ToolEnded("c1", "send", "", "refused"),
    RunStarted("run-1", RunCause.RETRY),
    RunEnded("run-1", RunStatus.DONE),
    RunEnded("run-1", RunStatus.FAILED, "it broke"),
    PauseOpened("p1", "tools", (ASKED,), ("clar_1",)),
    PauseOpened("p1", "tools", ()),
    settled(RequestKind.CLARIFICATION, value=ClarificationAnswer("east")),
    settled(RequestKind.CLARIFICATION, status=RequestStatus.EXPIRED, reason="nobody answered"),
    settled(RequestKind.ENV_VAR, value=EnvVarAnswer({"KEY": "***"}, True), provenance={"saved": "s1"}),
    settled(
        RequestKind.APPROVAL,
        value=ApprovalAnswer("edit", {"to": "eve"}),
        call=SettledCall("send", None, "digest", "another"),
        remembered={"grant_id": "g1"},
    ),
    RequestExtended("r1", "p1", AT, "bob"),
    Custom(None),
    Custom({"percent": 50}),
]


@pytest.mark.parametrize("data", EVENTS, ids=lambda data: type(data).__name__)
def test_an_event_comes_back_as_it_was(data: EventData) -> None:
    stored = json.loads(json.dumps(event_json.to_json(data)))
    assert event_json.from_json(data.type, stored, AT) == data


def test_every_type_is_tried() -> None:
    assert {data.type for data in EVENTS} == set(EventType)


def test_what_older_versions_wrote_is_read() -> None:
    deleted = event_json.from_json(EventType.THREAD_DELETED, {"by": "ann"}, AT)
    assert deleted == ThreadDeleted("ann", "", "", None)
    before = event_json.to_json(settled(RequestKind.CLARIFICATION))
    del before["at"]
    assert event_json.from_json(EventType.REQUEST_SETTLED, before, AT) == settled(RequestKind.CLARIFICATION)


def test_what_a_newer_version_added_is_left_aside() -> None:
    stored = {"text": "hello", "by": "ann", "attachment": "a.png"}
    assert event_json.from_json(EventType.USER_MESSAGE, stored, AT) == UserMessage("hello", "ann")
