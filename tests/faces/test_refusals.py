"""Every error of the core on every face: each has a row in each table, and whoever comes second learns the same."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from interlock import faces
from interlock.domain.errors import (
    AlreadySettled,
    Claimed,
    FieldError,
    IllegalTransition,
    InterlockError,
    InvalidAnswer,
    LeaseLost,
    NoSession,
    NotAuthenticated,
    NotEligible,
    NotFound,
    NothingPending,
    NoWorker,
    RateLimited,
    ReadsAsRefusal,
    StorageUnavailable,
    ThreadBusy,
    Undeliverable,
    Unreadable,
)
from interlock.domain.kinds import ApprovalAnswer, EnvVarAnswer, Value
from interlock.domain.request import RequestEnd, RequestStatus
from interlock.domain.session import SessionState
from interlock.domain.terms import Needs
from interlock.domain.thread import ThreadStatus
from interlock.faces.app import ERROR_FORMATS
from interlock.faces.confirm.errors import refusal
from interlock.faces.gateway.gate import refusal as gateway_refusal
from interlock.faces.http.problems import Problems
from interlock.faces.mcp.results import refusal as mcp_refusal
from interlock.services.threads.sessions import NotInterrupted
from interlock_client.confirm import ErrorTypes

INSIDE: set[type[InterlockError]] = {LeaseLost, IllegalTransition, Unreadable, Undeliverable}
"""What a caller can do nothing about: it is for the log."""


def end(value: Value) -> RequestEnd:
    at = datetime(2026, 11, 15, 12, tzinfo=UTC)
    return RequestEnd("perm_1", RequestStatus.ANSWERED, "ann", at, "web", value, "too risky")


END = end(ApprovalAnswer("reject", message="too risky"))
MAKERS: Mapping[type[InterlockError], Callable[[], InterlockError]] = {
    AlreadySettled: lambda: AlreadySettled("it was refused", END),
    NothingPending: lambda: NotInterrupted(
        SessionState.RUNNING, NothingPending("it was refused", ThreadStatus.RUNNING, END)
    ),
    ThreadBusy: lambda: ThreadBusy("it was refused", "ann-1", ThreadStatus.RUNNING),
    ReadsAsRefusal: lambda: ReadsAsRefusal("it was refused", (), '"no"'),
    NotFound: lambda: NotFound("it was refused", request_id="perm_1"),
    NoSession: lambda: NoSession("ann"),
    NotEligible: lambda: NotEligible("it was refused", Needs(2, ("group:payments",))),
    Claimed: lambda: Claimed("it was refused", "ann", datetime(2026, 11, 15, 12, tzinfo=UTC)),
}


def errors(kind: type[InterlockError] = InterlockError) -> Iterator[type[InterlockError]]:
    for one in kind.__subclasses__():
        if one.__module__ == InterlockError.__module__:
            yield one
            yield from errors(one)


IN_A_SOCKET = [kind for kind in errors() if kind is not NotAuthenticated]
"""Whoever is not signed in has none: it is closed with a code of its own."""


def an_error(kind: type[InterlockError]) -> InterlockError:
    if kind in MAKERS:
        return MAKERS[kind]()
    if issubclass(kind, RateLimited):
        return kind("too much", 2.0)
    return kind("it was refused")


HTTP = {
    "threads": "/api/chat",
    "inbox": "/api/v1/inbox/requests",
    "hitl": "/api/v1/agent/hitl",
    "sessions": "/agent/invoke",
    "manage": "/api/v1/keys",
    "hooks": "/api/v1/hooks/claude-code",
    "agui": "/api/v1/agui/demo",
    "langgraph": "/threads",
    "callbacks": "/channels/chan_1/callback",
}
FACES = [*HTTP, "confirm", "mcp"]


def replied(face: str, error: InterlockError, language: str = "en") -> tuple[int, dict[str, Any]]:
    app = FastAPI()
    app.state.server = SimpleNamespace(locale="zh")
    Problems(ERROR_FORMATS).install(app)

    @app.get(HTTP[face])
    def refuse() -> None:  # pyright: ignore[reportUnusedFunction]
        raise error

    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.get(HTTP[face], headers={"accept-language": language})
    return response.status_code, response.json()


def test_no_face_is_left_out() -> None:
    folders = {path.parent.name for path in Path(faces.__file__).parent.glob("*/__init__.py")}
    # Nobody answers at a gateway, so nobody comes second there.
    assert folders - {"http", "shared", "web"} == {*FACES, "gateway"}


@pytest.mark.parametrize("kind", [*errors()], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("face", HTTP)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_error_has_a_row_on_every_face_of_http(face: str, kind: type[InterlockError], language: str) -> None:
    status, body = replied(face, an_error(kind), language)
    told = body["error"]["message"] if face == "hitl" else body["detail"]
    assert told
    # A source document says 500 where no worker is there.
    assert (status == 500) is (kind in INSIDE or (kind is NoWorker and face == "hitl")), status
    assert isinstance(body["error"]["code"] if face == "hitl" else body.get("code", kind.code), str)


@pytest.mark.parametrize("kind", IN_A_SOCKET, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_error_has_a_row_on_the_confirm_face(kind: type[InterlockError], language: Any) -> None:
    said = refusal(an_error(kind), language)
    assert said.content
    assert (said.metadata["error_type"] == ErrorTypes.INTERNAL) is (kind in INSIDE)


@pytest.mark.parametrize("kind", [*errors()], ids=lambda kind: kind.__name__)
def test_every_error_is_a_refused_call_of_the_mcp_face(kind: type[InterlockError]) -> None:
    result = mcp_refusal(an_error(kind))
    assert result.is_error
    assert result.meta is not None
    assert result.meta["interlock/code"] == kind.code
    (block,) = result.model_dump()["content"]
    assert block["text"].startswith(f"{kind.code}: ")
    assert "not go on" in block["text"]


@pytest.mark.parametrize("kind", [*errors()], ids=lambda kind: kind.__name__)
def test_every_error_is_a_refused_call_of_a_gateway(kind: type[InterlockError]) -> None:
    result = gateway_refusal(an_error(kind))
    assert result["isError"] is True
    assert result["_meta"] == {"interlock/status": kind.code}
    assert result["content"][0]["text"].startswith(f"{kind.code}: ")


def test_why_the_database_fails_is_told_to_no_caller() -> None:
    secret = StorageUnavailable("password authentication failed for user interlock")
    assert "password" not in json.dumps(gateway_refusal(secret))
    assert "password" not in mcp_refusal(secret).model_dump_json()
    for face in HTTP:
        assert "password" not in json.dumps(replied(face, secret)), face


WON = {
    "answered_by": "ann",
    "answered_at": "2026-11-15T12:00:00Z",
    "source": "web",
    "answer": {"decision": "reject", "message": "too risky"},
    "reason": "too risky",
    "current_status": "answered",
    "request_id": "perm_1",
}


@pytest.mark.parametrize("face", FACES)
def test_whoever_comes_second_learns_who_when_from_where_and_with_what(face: str) -> None:
    assert WON.items() <= details(face, AlreadySettled("it was refused", END)).items()


@pytest.mark.parametrize("face", FACES)
def test_who_is_refused_for_others_learns_whose_word_it_takes(face: str) -> None:
    needs = {"people": 2, "from": ["group:payments"], "separate": False, "code": False}
    assert details(face, an_error(NotEligible))["needs"] == needs
    claim = {"claimed_by": "ann", "claimed_until": "2026-11-15T12:00:00Z"}
    assert claim.items() <= details(face, an_error(Claimed)).items()


@pytest.mark.parametrize("face", FACES)
def test_a_refusal_has_no_secret(face: str) -> None:
    given = EnvVarAnswer({"KEY": "***"}, False, {"KEY": "sec_1"})
    told = details(face, AlreadySettled("", end(given.readable())))
    assert told["answer"]["values"] == {"KEY": "***"}
    assert "sec_1" not in json.dumps(told)


def details(face: str, error: InterlockError) -> dict[str, Any]:
    if face == "confirm":
        return dict(refusal(error, "en").metadata)
    if face == "mcp":
        result = mcp_refusal(error)
        assert result.meta is not None
        return result.meta["interlock/details"]
    _, body = replied(face, error)
    return body["error"]["details"] if face == "hitl" else body


@pytest.mark.parametrize("face", FACES)
def test_a_wrong_field_is_named_on_every_face(face: str) -> None:
    told = details(face, InvalidAnswer("it was refused", [FieldError("answer", "form", "it is no number")]))
    (one,) = told["errors"]
    assert (one["field"].removeprefix("response."), one["code"], one["message"]) == (
        "answer",
        "form",
        "it is no number",
    )
