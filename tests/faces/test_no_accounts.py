"""`--auth none`: whoever is on this machine is whom they say they are."""

import uuid
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from tests.support import puppet
from tests.support.hitl import HITL, PERMISSION, QUESTION
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.teams import active
from tests.support.threads import ThreadsClient
from tests.support.wire import following, post
from tests.support.witness import Witness


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("trusting"), agents=[puppet.SPEC], auth="none", environment=witness.environment
    )
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def local(trusting: ServerProcess) -> Generator[ThreadsClient]:
    """Somebody who says nothing of who they are."""
    client = ThreadsClient(trusting.url)
    yield client
    client.http.close()


def made_by(http: httpx.Client, body: dict[str, str], params: dict[str, str], headers: dict[str, str]) -> str:
    reply = http.post("/api/sessions", json=body, params=params, headers=headers).raise_for_status()
    return reply.json()["thread_id"].rpartition("-")[0].rsplit("-", 4)[0]


@pytest.mark.parametrize(
    ("body", "params", "headers", "name"),
    [
        ({"user_id": "ann"}, {"user_id": "ben"}, {}, "ann"),
        ({}, {"user_id": "ben"}, {}, "ben"),
        ({"user_id": ""}, {"user_id": "ben"}, {}, "ben"),
        ({}, {}, {}, "local"),
        ({}, {}, {"authorization": "Bearer nonsense"}, "local"),
        ({"user_id": "ann"}, {}, {"authorization": "Basic YTpi"}, "ann"),
        ({"user_id": "张三"}, {}, {}, "张三"),
    ],
)
def test_the_user_is_taken_from_the_body_then_the_address_else_local(
    local: ThreadsClient, body: dict[str, str], params: dict[str, str], headers: dict[str, str], name: str
) -> None:
    assert made_by(local.http, body, params, headers) == name


@pytest.mark.parametrize("name", ["a b", "x" * 65, "../x", "\0"])
def test_a_user_id_that_cannot_be_is_a_bad_request(local: ThreadsClient, name: str) -> None:
    assert local.http.post("/api/sessions", json={"user_id": name}).status_code == 400
    assert local.http.get("/api/sessions", params={"user_id": name}).status_code == 400


def test_a_conversation_needs_no_credential(local: ThreadsClient, witness: Witness) -> None:
    thread_id = local.new_thread()
    assert local.chat(thread_id, script(calls(("guarded", {"name": "trusted"})))).events[-2:] == ["interrupt", "end"]
    assert local.status(thread_id)["status"] == "interrupted"
    assert local.resume(thread_id, "continue").text == "done trusted"
    assert witness.count("trusted") == 1


def test_threads_belong_to_whom_the_caller_named(local: ThreadsClient) -> None:
    theirs = post(local, "/api/chat", {"message": script(says("hi")), "user_id": "ann"}).headers["x-thread-id"]
    assert theirs.startswith("ann-")
    assert local.http.get(f"/api/history/{theirs}").status_code == 403
    assert local.http.get(f"/api/history/{theirs}", params={"user_id": "ann"}).status_code == 200
    assert post(local, f"/api/chat/{theirs}", {"message": "x", "user_id": "ben"}).status == 403
    listed = local.http.get("/api/sessions", params={"user_id": "ann"}).json()
    assert theirs in [entry["thread_id"] for entry in listed["threads"]]


def test_a_stream_needs_no_credential(local: ThreadsClient) -> None:
    thread_id = local.new_thread()
    local.chat(thread_id, script(says("hi")))
    with following(local, thread_id, "0") as frames:
        assert next(frames).data["content"] == "hi"


def test_signing_in_works_all_the_same(local: ThreadsClient) -> None:
    credentials = {"username": "later", "password": "wonderland"}
    assert local.http.post("/api/auth/register", json=credentials).status_code == 200
    assert local.http.post("/api/auth/login", json=credentials).status_code == 200


def test_somebody_named_without_a_password_cannot_sign_in_with_none(local: ThreadsClient) -> None:
    local.http.get("/api/sessions", params={"user_id": "passwordless"})
    for password in ("", " ", "x"):
        body = {"username": "passwordless", "password": password}
        assert local.http.post("/api/auth/login", json=body).status_code in (401, 422)


def test_the_server_says_that_everybody_is_trusted(trusting: ServerProcess) -> None:
    assert "no sign-in needed" in trusting.output.read_text()


@pytest.mark.promise("P18", "P19")
@pytest.mark.parametrize(("field", "needs"), [("people", {"people": 2}), ("separate", {"separate": True})])
def test_an_ask_is_not_put_to_several_people_or_others(local: ThreadsClient, field: str, needs: dict[str, Any]) -> None:
    """There anybody is anybody."""
    body = {"type": "permission", "request_data": PERMISSION, "needs": needs}
    asked = local.http.post(f"{HITL}/requests", json=body)
    assert (asked.status_code, asked.json()["error"]["details"]["errors"][0]["field"]) == (400, f"needs.{field}")


RULES = """
[[rule]]
name = "two"
when = 'kind == "approval" && args.name.startsWith("two-")'
then = "ask"
people = 2
separate = false
[[rule]]
name = "other"
when = 'kind != "approval" || args.name.startsWith("other-")'
then = "ask"
separate = true
"""


@pytest.mark.promise("P18", "P19")
def test_rules_about_people_from_a_time_with_accounts_let_nothing_pass(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> None:
    folder = tmp_path_factory.mktemp("once-with-accounts")
    environment = witness.environment
    with ServerProcess(folder, agents=[puppet.SPEC], environment=environment) as server, People(server.url) as people:
        active(people.named("root").http, RULES).__enter__()
    with ServerProcess(folder, agents=[puppet.SPEC], auth="none", environment=environment) as trusting:
        client = ThreadsClient(trusting.url)
        for name in (f"two-{uuid.uuid4()}", f"other-{uuid.uuid4()}"):
            reply = client.chat(client.new_thread(), script(calls(("guarded", {"name": name})), says("done")))
            assert "interrupt" not in reply.events
            assert witness.count(name) == 0
        asked = client.http.post(f"{HITL}/requests", json={"type": "clarification", "request_data": QUESTION})
        client.http.close()
    assert asked.json()["data"]["status"] == "cancelled"
