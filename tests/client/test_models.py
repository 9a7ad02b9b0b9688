"""The wire models: what clients send is taken strictly, what the server says is said exactly."""

from typing import Any

import pytest
from pydantic import ValidationError

from interlock_client import base, threads

SENT: list[type[base.ClientModel]] = [
    threads.Credentials,
    threads.NewSession,
    threads.ChatMessage,
    threads.Chat,
    threads.Resume,
]


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (threads.Credentials, {"username": 1, "password": "x"}),
        (threads.Credentials, {"username": "a", "password": True}),
        (threads.Credentials, {"username": "", "password": "x"}),
        (threads.Credentials, {"username": "a" * 65, "password": "x"}),
        (threads.Credentials, {"username": "a", "password": "x" * 257}),
        (threads.ChatMessage, {"message": 1}),
        (threads.ChatMessage, {"message": ""}),
        (threads.ChatMessage, {"message": "x" * 500_001}),
        (threads.ChatMessage, {}),
        (threads.Chat, {"message": "hi", "thread_id": 5}),
        (threads.NewSession, {"agent": False}),
        (threads.Resume, {"action": None}),
        (threads.Resume, {"action": "answer", "answers": "red"}),
        (threads.Resume, {"action": "cancel", "reason": "x" * 10_001}),
        (threads.Resume, {"action": "cancel", "request_id": 1}),
    ],
)
def test_what_is_of_another_type_is_not_taken(model: type[base.ClientModel], given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(given)


@pytest.mark.parametrize("model", SENT)
def test_unknown_fields_of_newer_clients_are_ignored(model: type[base.ClientModel]) -> None:
    given = {"username": "a", "password": "b", "message": "c", "action": "continue", "from_the_future": {"x": 1}}
    assert "from_the_future" not in model.model_validate(given).model_dump()


def test_what_the_server_says_holds_nothing_else() -> None:
    with pytest.raises(ValidationError):
        threads.Session.model_validate({"thread_id": "x", "secret": "y"})


def test_an_error_may_say_more() -> None:
    told = threads.Problem.model_validate({"detail": "busy", "status": "running", "pending": []})
    assert told.model_dump() == {"detail": "busy", "status": "running", "pending": []}


def test_a_reply_reads_back_as_it_was_said() -> None:
    told = threads.ThreadStatus(thread_id="x", status="idle", has_pending_tasks=False, message_count=0)
    assert threads.ThreadStatus.model_validate_json(told.model_dump_json()) == told
