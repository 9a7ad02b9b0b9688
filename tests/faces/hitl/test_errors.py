"""Every error of the face, in its envelope and in both languages."""

from collections.abc import Generator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from interlock.domain.errors import LeaseLost, NotAuthenticated, StorageUnavailable
from interlock.faces.hitl.envelope import Envelope
from interlock.faces.http.guard import MAX_BODY, AllowedHosts, Guard
from interlock.faces.http.limits import REFUSED_BURST, Limits
from interlock.faces.http.problems import Problems
from tests.support.hitl import (
    HITL,
    PERMISSION,
    QUESTION,
    HitlClient,
    error_of,
    of,
    wrong_fields,
)
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

ROUTES = [
    ("GET", "/conversations/abc/pending"),
    ("GET", "/pending"),
    ("POST", "/respond"),
    ("POST", "/cancel"),
    ("POST", "/requests"),
    ("GET", "/requests/clar_1"),
    ("POST", "/requests/clar_1/collect"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("credential", [None, "Bearer nonsense", f"Bearer ms_sk_{'0' * 64}", "Basic YTpi"])
def test_every_route_wants_a_credential(
    server: ServerProcess, alice: ThreadsClient, method: str, path: str, credential: str | None
) -> None:
    headers = {} if credential is None else {"authorization": credential}
    with server.client() as http:
        reply = http.request(method, f"{HITL}{path}", headers=headers, json={})
    error_of(reply, 401, "HITL_UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path", [f"{HITL}/nothing", HITL, "/api/v1/agent/other", "/api/v1/agent", f"{HITL}/requests/a/b"]
)
def test_an_address_that_is_none_is_told_in_the_envelope(person: HitlClient, path: str) -> None:
    error_of(person.http.get(path), 404, "HITL_NOT_FOUND")


@pytest.mark.parametrize(("method", "path"), [("GET", "/respond"), ("PUT", "/cancel"), ("DELETE", "/requests/clar_1")])
def test_a_method_that_is_none_is_told_in_the_envelope(person: HitlClient, method: str, path: str) -> None:
    reply = person.http.request(method, f"{HITL}{path}")
    error_of(reply, 405, "HITL_METHOD_NOT_ALLOWED")
    assert reply.headers["allow"]


def test_a_body_that_is_too_large_is_told_in_the_envelope(person: HitlClient) -> None:
    error_of(person.http.post(f"{HITL}/respond", content=b" " * (MAX_BODY + 1)), 413, "HITL_TOO_LARGE")

    def endless() -> Generator[bytes]:
        for _ in range(20):
            yield b" " * (MAX_BODY // 10)

    error_of(person.http.post(f"{HITL}/respond", content=endless()), 413, "HITL_TOO_LARGE")


def test_a_body_that_is_too_deep_is_told_in_the_envelope(person: HitlClient) -> None:
    deep = b'{"request_id": "clar_1", "response": ' + b"[" * 100 + b"]" * 100 + b"}"
    reply = person.http.post(f"{HITL}/respond", content=deep, headers={"content-type": "application/json"})
    assert wrong_fields(reply) == ["body"]


def test_a_host_or_an_origin_that_is_not_taken_is_told_in_the_envelope(person: HitlClient) -> None:
    error_of(person.http.get(f"{HITL}/pending", headers={"host": "evil.example"}), 403, "HITL_FORBIDDEN")
    error_of(person.http.get(f"{HITL}/pending", headers={"origin": "http://evil.example"}), 403, "HITL_FORBIDDEN")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"text"', b"\xff", b"nan"])
def test_a_body_that_is_none_is_named_as_a_whole(person: HitlClient, body: bytes) -> None:
    reply = person.http.post(f"{HITL}/respond", content=body, headers={"content-type": "application/json"})
    assert wrong_fields(reply) == ["body"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_no_json_has_are_refused(person: HitlClient, number: str) -> None:
    asked = f'{{"type": "permission", "request_data": {{"tool_name": "t", "args": {{"a": [{number}]}}}}}}'
    headers = {"content-type": "application/json"}
    assert wrong_fields(person.http.post(f"{HITL}/requests", content=asked, headers=headers)) == ["request_data"]
    request_id = person.ask("permission", PERMISSION)["request_id"]
    answer = f'{{"request_id": "{request_id}", "response": {{"granted": true, "args": {{"a": {number}}}}}}}'
    assert wrong_fields(person.http.post(f"{HITL}/respond", content=answer, headers=headers)) == ["response"]


WRONG: list[tuple[str, dict[str, Any], list[str]]] = [
    ("respond", {}, ["request_id", "response"]),
    ("respond", {"request_id": 1, "response": [], "metadata": "x"}, ["metadata", "request_id", "response"]),
    ("respond", {"request_id": "", "response": None}, ["request_id", "response"]),
    ("requests", {}, ["request_data", "type"]),
    (
        "requests",
        {"type": "wish", "request_data": 1, "timeout_seconds": "x", "conversation_id": "", "agent": 5},
        ["agent", "conversation_id", "request_data", "timeout_seconds", "type"],
    ),
]


@pytest.mark.parametrize(("path", "body", "fields"), WRONG)
def test_every_wrong_field_of_a_body_is_named_at_once(
    person: HitlClient, path: str, body: dict[str, Any], fields: list[str]
) -> None:
    assert wrong_fields(person.post(path, body)) == fields


def test_what_was_sent_is_not_repeated_in_the_error(person: HitlClient) -> None:
    reply = person.post("respond", {"request_id": ["hunter2"], "response": "hunter2", "metadata": "hunter2"})
    assert reply.status_code == 400
    assert "hunter2" not in reply.text


def test_unknown_fields_are_refused_inside_the_response_only(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION, colour="red")["request_id"]
    assert wrong_fields(person.try_respond(request_id, {"answer": "A", "extra": 1, "more": 2})) == [
        "response.extra",
        "response.more",
    ]
    reply = person.post("respond", {"request_id": request_id, "response": {"answer": "A"}, "extra": 1})
    assert reply.status_code == 200


def spoken(client: HitlClient, method: str, path: str, body: Any, language: str | None) -> tuple[str, str]:
    headers = {} if language is None else {"accept-language": language}
    error = client.http.request(method, f"{HITL}{path}", json=body, headers=headers).json()["error"]
    return error["code"], error["message"]


TRANSLATED: list[tuple[str, str, Any]] = [
    ("GET", "/nothing", None),
    ("PUT", "/respond", None),
    ("POST", "/respond", {}),
    ("POST", "/respond", {"request_id": "{}", "response": {}, "metadata": {"note": "x" * 20_000}}),
    ("POST", "/requests", {"type": "clarification", "request_data": QUESTION, "conversation_id": "nobodys"}),
    ("POST", "/respond", "x" * (MAX_BODY + 1)),
]


@pytest.mark.parametrize(("method", "path", "body"), TRANSLATED)
def test_errors_are_in_chinese_unless_english_is_wanted(person: HitlClient, method: str, path: str, body: Any) -> None:
    code, zh = spoken(person, method, path, body, None)
    assert not zh.isascii()
    assert spoken(person, method, path, body, "fr, zh;q=0.5") == (code, zh)
    english = spoken(person, method, path, body, "en-GB,en;q=0.9")
    assert english[0] == code
    assert english[1].isascii()


def test_refusals_about_the_caller_are_in_both_languages(
    server: ServerProcess, person: HitlClient, other: HitlClient
) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    _, zh = spoken(other, "GET", f"/requests/{request_id}", None, None)
    assert zh == "无权限操作此请求"
    _, en = spoken(other, "GET", f"/requests/{request_id}", None, "en")
    assert en.isascii()
    with HitlClient(server.url, "nobody") as nobody:
        assert spoken(nobody, "GET", "/pending", None, None)[1].startswith("未授权访问")
        assert spoken(nobody, "GET", "/pending", None, "en")[1].isascii()


def test_texts_that_the_document_gives_in_english_stay_so(person: HitlClient) -> None:
    for language in ("zh", "en"):
        headers = {"accept-language": language}
        request_id = person.ask("clarification", QUESTION)["request_id"]
        body = {"request_id": request_id, "response": {"answer": "A"}}
        assert person.post("respond", body, **headers).json()["message"] == "Response submitted successfully"
        told = person.post("respond", body, **headers).json()["error"]["message"]
        assert told == "HITL request is not in pending status"
        told = person.http.get(f"{HITL}/requests/clar_none", headers=headers).json()["error"]["message"]
        assert told == "HITL request not found"
        told = person.http.get(f"{HITL}/pending", headers=headers).json()["message"]
        assert told == "Operation completed successfully"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """A server that lets few through."""
    limits = {"INTERLOCK_RATE_LIMIT": "0.01", "INTERLOCK_RATE_BURST": "4"}
    process = ServerProcess(tmp_path_factory.mktemp("strict"), environment=limits)
    try:
        yield process.start()
    finally:
        process.close()


def test_too_many_requests_are_told_in_the_envelope(strict: ServerProcess) -> None:
    with People(strict.url) as people, of(people.named("root")) as busy:
        replies = [busy.http.get(f"{HITL}/pending") for _ in range(6)]
        error_of(replies[-1], 429, "HITL_RATE_LIMITED")
        assert int(replies[-1].headers["retry-after"]) > 0


class _State:
    locale = "zh"


def broken_app(limits: Limits | None = None) -> FastAPI:
    app = FastAPI()
    app.state.server = _State()
    problems = Problems({"/api/v1/agent": Envelope()})
    problems.install(app)

    async def fails() -> None:
        raise RuntimeError("the reason is for the log")

    async def bug() -> None:
        raise LeaseLost("the reason is for the log")

    async def no_database() -> None:
        raise StorageUnavailable("the reason is for the log")

    async def refuses() -> None:
        raise NotAuthenticated("nobody")

    for name, route in {"fails": fails, "bug": bug, "no-database": no_database, "refuses": refuses}.items():
        app.add_api_route(f"{HITL}/{name}", route)
    app.add_middleware(Guard, allowed=AllowedHosts(), limits=limits or Limits(), problems=problems)
    return app


async def test_failures_of_the_server_are_told_in_the_envelope_and_without_their_reasons() -> None:
    transport = httpx.ASGITransport(broken_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        for path in ("fails", "bug"):
            reply = await http.get(f"{HITL}/{path}")
            error_of(reply, 500, "HITL_INTERNAL", "WORKFLOW_ERROR")
            assert "the reason" not in reply.text
            assert reply.headers["x-request-id"]
        reply = await http.get(f"{HITL}/no-database")
        error_of(reply, 503, "HITL_UNAVAILABLE")
        assert "the reason" not in reply.text
        assert reply.headers["retry-after"]


async def test_who_is_refused_too_often_is_told_to_slow_down_in_the_envelope() -> None:
    transport = httpx.ASGITransport(broken_app(Limits(clock=lambda: 1000.0)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        replies = [await http.get(f"{HITL}/refuses") for _ in range(REFUSED_BURST + 1)]
    error_of(replies[0], 401, "HITL_UNAUTHORIZED")
    error_of(replies[-1], 429, "HITL_RATE_LIMITED")
    assert replies[-1].headers["retry-after"]
