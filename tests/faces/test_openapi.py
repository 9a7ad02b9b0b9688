"""The served OpenAPI is true: whatever is sent, the answer is one that it names, in the form that it gives."""

from collections.abc import Callable, Generator
from typing import Any, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis import checks as any_checks
from schemathesis.specs.openapi import checks as openapi_checks

from tests.support import hitl, sessions
from tests.support.hitl import ASKED, HITL, QUESTION
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

OPERATIONS = [
    ("post", "/api/auth/register"),
    ("post", "/api/auth/login"),
    ("post", "/api/sessions"),
    ("get", "/api/sessions"),
    ("delete", "/api/sessions/{thread_id}"),
    ("get", "/api/status/{thread_id}"),
    ("get", "/api/history/{thread_id}"),
    ("post", "/api/chat/{thread_id}"),
    ("post", "/api/chat"),
    ("post", "/api/resume/{thread_id}"),
    ("get", "/api/stream/{thread_id}"),
    ("get", "/api/v1/agent/hitl/conversations/{conversation_id}/pending"),
    ("get", "/api/v1/agent/hitl/pending"),
    ("post", "/api/v1/agent/hitl/respond"),
    ("post", "/api/v1/agent/hitl/cancel"),
    ("post", "/api/v1/agent/hitl/requests"),
    ("get", "/api/v1/agent/hitl/requests/{request_id}"),
    ("post", "/api/v1/agent/hitl/requests/{request_id}/collect"),
    ("post", "/api/v1/agent/hitl/requests/{request_id}/extend"),
    ("get", "/api/v1/agent/stream"),
    ("post", "/api/v1/hooks/claude-code"),
    ("get", "/api/v1/agui/{agent}"),
    ("post", "/api/v1/agui/{agent}"),
    ("post", "/agent/invoke"),
    ("post", "/agent/resume"),
    ("get", "/agent/status/{user_id}"),
    ("delete", "/agent/session/{user_id}"),
    ("get", "/system/info"),
    ("post", "/api/v1/account/password"),
    ("get", "/api/v1/account/sessions"),
    ("delete", "/api/v1/account/sessions/{session_id}"),
    ("delete", "/api/v1/account/sessions"),
    ("get", "/api/v1/people"),
    ("post", "/api/v1/people/{user_id}/role"),
    ("post", "/api/v1/people/{user_id}/access"),
    ("delete", "/api/v1/people/{user_id}"),
    ("post", "/api/v1/people/{user_id}/identities"),
    ("delete", "/api/v1/people/{user_id}/identities/{identity_id}"),
    ("get", "/api/v1/account/identities"),
    ("post", "/api/v1/account/identities"),
    ("delete", "/api/v1/account/identities/{identity_id}"),
    ("post", "/api/v1/session/sign-on"),
    ("post", "/api/v1/session/sign-on/finish"),
    ("post", "/api/v1/keys"),
    ("get", "/api/v1/keys"),
    ("delete", "/api/v1/keys/{key_id}"),
    ("post", "/api/v1/tickets"),
    ("get", "/api/v1/grants"),
    ("delete", "/api/v1/grants/{grant_id}"),
    ("get", "/api/v1/secrets"),
    ("delete", "/api/v1/secrets/{secret_id}"),
    ("get", "/api/v1/policy"),
    ("get", "/api/v1/policy/versions/{number}"),
    ("post", "/api/v1/policy/check"),
    ("post", "/api/v1/policy/versions"),
    ("post", "/api/v1/policy/versions/{number}/activate"),
    ("post", "/api/v1/policy/deactivate"),
    ("post", "/api/v1/policy/try"),
    ("post", "/api/v1/policy/replay"),
    ("post", "/api/v1/policy/versions/{number}/shadow"),
    ("get", "/api/v1/policy/versions/{number}/shadow"),
    ("post", "/api/v1/policy/shadow/off"),
    ("post", "/api/v1/webhooks"),
    ("get", "/api/v1/webhooks"),
    ("delete", "/api/v1/webhooks/{webhook_id}"),
    ("get", "/api/v1/webhooks/{webhook_id}/deliveries"),
    ("post", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay"),
    ("post", "/api/v1/channels"),
    ("get", "/api/v1/channels"),
    ("get", "/api/v1/channels/kinds"),
    ("delete", "/api/v1/channels/{channel_id}"),
    ("get", "/api/v1/channels/{channel_id}/failed"),
    ("post", "/api/v1/channels/{channel_id}/test"),
    ("get", "/api/v1/me/addresses"),
    ("post", "/api/v1/me/addresses"),
    ("post", "/api/v1/me/addresses/confirm"),
    ("post", "/api/v1/me/addresses/browser"),
    ("post", "/api/v1/me/addresses/{address_id}/test"),
    ("delete", "/api/v1/me/addresses/{address_id}"),
    ("get", "/api/v1/me/notifications"),
    ("put", "/api/v1/me/notifications"),
    ("post", "/channels/{channel_id}/callback"),
    ("post", "/api/v1/answer-link"),
    ("post", "/api/v1/answer-link/tap"),
    ("get", "/api/v1/audit"),
    ("get", "/api/v1/welcome"),
    ("get", "/api/v1/session"),
    ("post", "/api/v1/session"),
    ("post", "/api/v1/session/once"),
    ("delete", "/api/v1/session"),
    ("get", "/api/v1/inbox"),
    ("get", "/api/v1/inbox/requests/{request_id}"),
    ("get", "/api/v1/inbox/requests/{request_id}/explain"),
    ("get", "/api/v1/inbox/requests/{request_id}/similar"),
    ("get", "/api/v1/inbox/requests/{request_id}/rule"),
    ("post", "/api/v1/inbox/requests/{request_id}/opinion"),
    ("get", "/api/v1/figures"),
    *(("post", f"/api/v1/inbox/requests/{{request_id}}/{one}") for one in ("claim", "release", "delegate", "route")),
    ("delete", "/api/v1/inbox/requests/{request_id}/vote"),
    ("get", "/api/v1/inbox/requests/{request_id}/comments"),
    ("post", "/api/v1/inbox/requests/{request_id}/comments"),
    ("get", "/api/v1/groups"),
    ("post", "/api/v1/groups"),
    ("put", "/api/v1/groups/{name}"),
    ("delete", "/api/v1/groups/{name}"),
    ("get", "/api/v1/people/names"),
    ("get", "/api/v1/away"),
    ("put", "/api/v1/away"),
    ("delete", "/api/v1/away"),
    ("post", "/api/v1/inbox/requests/{request_id}/answer"),
    ("post", "/api/v1/inbox/requests/{request_id}/cancel"),
    ("post", "/api/v1/inbox/requests/{request_id}/extend"),
    ("post", "/api/v1/inbox/requests/{request_id}/{operation}/recall"),
    ("get", "/api/v1/inbox/conversations"),
    ("post", "/api/v1/inbox/conversations/{conversation_id}/stop"),
    ("post", "/api/v1/inbox/looking"),
    ("get", "/api/v1/inbox/stream"),
    ("get", "/api/v1/history"),
    ("get", "/api/v1/agents"),
    ("get", "/healthz"),
    ("get", "/readyz"),
    ("get", "/metrics"),
]
# Its own types are generic without arguments; what is used of it here is plain enough.
Case = Any
Schema = Any
CHECKS: list[Any] = [
    cast("Any", any_checks).not_a_server_error,
    *(
        getattr(openapi_checks, name)
        for name in (
            "status_code_conformance",
            "content_type_conformance",
            "response_headers_conformance",
            "response_schema_conformance",
        )
    ),
]
ENDLESS = ("get", "/api/v1/inbox/stream")
"""A stream for whoever is signed in, with nothing to get wrong: it does not end by itself."""
FINITE = [operation for operation in OPERATIONS if operation != ENDLESS]
ENDS_SESSIONS = ("delete", "/api/v1/account/sessions")
TAKE_NOTHING = [
    ("get", "/api/v1/welcome"),
    ("delete", "/api/v1/session"),
    *(("get", path) for path in ("/healthz", "/readyz", "/metrics")),
]
"""There is nothing that could be wrong about these."""
OPEN = ("/api/auth/", "/api/v1/welcome", "/api/v1/session", "/api/v1/answer-link", "/healthz", "/readyz")
BOUND = 60.0
SETTINGS = settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:jsonschema", "ignore::DeprecationWarning:requests")


@pytest.fixture(scope="module")
def schema(server: ServerProcess) -> Schema:
    return cast("Any", schemathesis.openapi).from_url(f"{server.url}/openapi.json")


@pytest.fixture(scope="module")
def session() -> Generator[requests.Session]:
    with requests.Session() as opened:
        yield opened


@pytest.fixture
def alice(people: People) -> ThreadsClient:
    """Somebody whose conversations no other test counts."""
    client = people.named("described")
    if client.http.get("/api/v1/session").status_code == 401:
        client.sign_in(register=False)
    return client


def bearer(client: ThreadsClient) -> dict[str, str]:
    return {"authorization": client.http.headers["authorization"]}


def hold_to_it(operation: Any, mode: GenerationMode, send: Callable[[Case], Any]) -> None:
    @SETTINGS
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Case) -> None:
        send(case)

    holds()


def test_every_operation_is_held_to_it(schema: Schema) -> None:
    served = {(result.ok().method.lower(), result.ok().path) for result in schema.get_all_operations()}
    assert served == set(OPERATIONS)


@pytest.mark.parametrize(("method", "path"), FINITE)
def test_anything_that_a_signed_in_caller_sends_gets_a_documented_answer(
    schema: Schema, session: requests.Session, alice: ThreadsClient, method: str, path: str
) -> None:
    def send(case: Case) -> None:
        if (method, path) == ENDS_SESSIONS:
            alice.sign_in(register=False)
        case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)

    hold_to_it(schema[path][method], GenerationMode.POSITIVE, send)


@pytest.mark.parametrize(("method", "path"), [operation for operation in FINITE if operation not in TAKE_NOTHING])
def test_anything_that_is_not_as_described_gets_a_documented_answer(
    schema: Schema, session: requests.Session, alice: ThreadsClient, method: str, path: str
) -> None:
    def send(case: Case) -> None:
        case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)

    hold_to_it(schema[path][method], GenerationMode.NEGATIVE, send)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_anything_that_a_stranger_sends_gets_a_documented_answer(
    schema: Schema, session: requests.Session, method: str, path: str
) -> None:
    closed = not path.startswith(OPEN)

    def send(case: Case) -> None:
        case.headers.pop("Authorization", None)
        reply = case.call_and_validate(session=session, checks=CHECKS, timeout=BOUND)
        # So many strangers from one address are told to slow down.
        assert not closed or reply.status_code in (401, 422, 429)

    hold_to_it(schema[path][method], GenerationMode.POSITIVE, send)


@pytest.mark.parametrize(
    ("method", "path"),
    [entry for entry in OPERATIONS if "{thread_id}" in entry[1] and entry != ("get", "/api/stream/{thread_id}")],
)
def test_anything_sent_to_ones_own_paused_thread_gets_a_documented_answer(
    schema: Schema, session: requests.Session, alice: ThreadsClient, method: str, path: str
) -> None:
    def send(case: Case) -> None:
        case.path_parameters["thread_id"] = paused(alice)
        case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)

    hold_to_it(schema[path][method], GenerationMode.POSITIVE, send)


@pytest.mark.parametrize(
    ("method", "path"), [entry for entry in OPERATIONS if entry[1].startswith(HITL) and entry[1] != f"{HITL}/pending"]
)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_anything_sent_to_ones_own_pending_request_gets_a_documented_answer(
    schema: Schema, session: requests.Session, alice: ThreadsClient, method: str, path: str, mode: GenerationMode
) -> None:
    with hitl.of(alice) as client:

        def send(case: Case) -> None:
            asked = client.ask("clarification", QUESTION, timeout_seconds=5)
            body: Any = case.body
            places = [case.path_parameters, *([cast("dict[str, Any]", body)] if isinstance(body, dict) else [])]
            for place in places:
                place.update({name: asked[name] for name in ("request_id", "conversation_id") if name in place})
            # Else it would be waited for.
            case.query.pop("wait", None)
            case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)

        hold_to_it(schema[path][method], mode, send)


@pytest.mark.parametrize(("kind", "data", "response"), ASKED.values(), ids=ASKED.keys())
def test_a_request_is_as_described_from_its_asking_to_its_end(
    schema: Schema, session: requests.Session, alice: ThreadsClient, kind: str, data: Any, response: Any
) -> None:
    def call(method: str, path: str, body: Any = None, **parameters: str) -> Any:
        sent = {} if body is None else {"body": body, "media_type": "application/json"}
        case = schema[f"{HITL}{path}"][method].Case(path_parameters=parameters, **sent)
        return case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND).json()

    asked = call("post", "/requests", {"type": kind, "request_data": data})["data"]
    request_id, conversation_id = asked["request_id"], asked["conversation_id"]
    waiting = call("get", "/conversations/{conversation_id}/pending", conversation_id=conversation_id)
    assert [one["request_id"] for one in waiting["data"]["pending_requests"]] == [request_id]
    call("get", "/pending")
    reply = {"request_id": request_id, "response": response}
    told = [call("post", "/respond", reply)["success"], call("post", "/respond", reply)["success"]]
    assert told == [True, False]
    assert call("get", "/requests/{request_id}", request_id=request_id)["data"]["status"] == "answered"
    assert call("post", "/cancel", {"request_id": request_id})["success"] is False
    collected = [call("post", "/requests/{request_id}/collect", request_id=request_id)["success"] for _ in range(2)]
    assert collected == [kind == "env_var", False]


def paused(client: ThreadsClient) -> str:
    thread_id = client.new_thread()
    client.chat(thread_id, script(calls(("guarded", {"name": "described"}))))
    return thread_id


@pytest.mark.parametrize("action", ["continue", "cancel", "answer"])
def test_every_reply_to_a_pause_is_as_described(
    schema: Schema, session: requests.Session, alice: ThreadsClient, action: str
) -> None:
    operation = schema["/api/resume/{thread_id}"]["post"]
    body = {"action": action, "answers": ["yes"]}
    thread_id = paused(alice)
    for _ in range(2):
        case = operation.Case(path_parameters={"thread_id": thread_id}, body=body, media_type="application/json")
        case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)


@pytest.mark.parametrize("path", ["/api/sessions", "/api/chat", "/healthz"])
def test_a_method_that_is_not_described_is_not_allowed(server: ServerProcess, path: str) -> None:
    with server.client() as http:
        for other in ("PUT", "PATCH", "TRACE"):
            reply = http.request(other, path)
            assert reply.status_code == 405
            assert reply.headers["allow"]


def test_streams_are_described_as_streams(schema: Schema, server: ServerProcess) -> None:
    with server.client() as http:
        described = http.get("/openapi.json").json()
    for path in ("/api/chat", "/api/chat/{thread_id}", "/api/resume/{thread_id}"):
        answers = described["paths"][path]["post"]["responses"]
        assert answers["200"]["content"].keys() == {"text/event-stream"}
        assert answers.keys() >= {"400", "401", "403", "409", "413", "422", "503"}
        assert answers["409"]["content"].keys() == {"application/json"}
    answers = described["paths"]["/api/v1/agent/stream"]["get"]["responses"]
    assert answers["200"]["content"].keys() == {"text/event-stream"}
    assert answers.keys() >= {"400", "401", "403", "404", "429", "503"}
    assert answers["404"]["content"].keys() == {"application/json"}


@pytest.mark.parametrize(("method", "path"), [entry for entry in OPERATIONS if entry[1].startswith("/agent/")])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_anything_sent_to_ones_own_session_gets_a_documented_answer(
    schema: Schema, session: requests.Session, alice: ThreadsClient, method: str, path: str, mode: GenerationMode
) -> None:
    client = sessions.of(alice)

    def send(case: Case) -> None:
        client.delete()
        client.invoke(calls(("guarded", {"name": "described"})))
        own = {"user_id": client.user_id, "session_id": client.session_id}
        body: Any = case.body
        for place in (case.path_parameters, *([cast("dict[str, Any]", body)] if isinstance(body, dict) else [])):
            place.update({name: own[name] for name in own if name in place})
        case.call_and_validate(session=session, headers=bearer(alice), checks=CHECKS, timeout=BOUND)

    hold_to_it(schema[path][method], mode, send)
    client.delete()
    client.close()
