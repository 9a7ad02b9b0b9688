"""Webhooks on a real server with a real receiver: what is told, to whom, and what is refused."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faces.threads.asking import KEY, variables
from tests.support import puppet
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

ALLOWED = {"INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1", "INTERLOCK_WEBHOOK_PRIVATE": "on"}
PATH = "/api/v1/webhooks"
BOTH = ["request.asked", "request.settled"]


def a_server(folder: Path, witness: Witness, **environment: str) -> ServerProcess:
    agents = [puppet.SPEC, puppet.SPEC.replace("puppet=", "other=", 1)]
    return ServerProcess(folder, agents=agents, environment={**witness.environment, **environment})


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    process = a_server(tmp_path_factory.mktemp("hooked"), witness, **ALLOWED)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def crew(hooked: ServerProcess) -> Generator[People]:
    with People(hooked.url) as people:
        yield people


@pytest.fixture
def admin(crew: People) -> httpx.Client:
    return crew.named("root").http


@pytest.fixture
def ann(crew: People) -> ThreadsClient:
    return crew.named("ann")


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with Receiver() as listening:
        yield listening


class Hook:
    """A webhook for one test; it is removed with it, so that no other test is told of."""

    def __init__(self, admin: httpx.Client, url: str, **fields: Any) -> None:
        self._admin = admin
        made = admin.post(PATH, json={"url": url, **fields})
        assert made.status_code == 200, made.text
        self.made: dict[str, Any] = made.json()
        self.path = f"{PATH}/{self.made['id']}"

    def __enter__(self) -> "Hook":
        return self

    def __exit__(self, *_: object) -> None:
        self._admin.delete(self.path)

    def deliveries(self, **query: Any) -> list[dict[str, Any]]:
        return self._admin.get(f"{self.path}/deliveries", params=query).raise_for_status().json()["deliveries"]

    def wait_for(self, status: str, count: int = 1) -> list[dict[str, Any]]:
        return wait_for(lambda: self.deliveries(status=status), lambda seen: len(seen) == count)


def asked(client: ThreadsClient, name: str) -> tuple[str, str]:
    """A thread that waits for an approval, and the request."""
    thread_id = client.new_thread()
    shown = client.chat(thread_id, script(calls(("guarded", {"name": name})))).first("interrupt")
    return thread_id, shown["requests"][0]["request_id"]


def test_a_request_is_told_of_when_it_is_asked_and_when_it_is_settled(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with Hook(admin, f"{receiver.url}/hook", events=BOTH) as hook:
        thread_id, request_id = asked(ann, "told")
        (told,) = receiver.wait_for_events("request.asked")
        assert told.path == "/hook"
        assert told.is_signed_with(hook.made["secret"])
        assert told.headers["content-type"] == "application/json"
        data = told.json["data"]
        assert told.json["id"] == told.id
        assert (data["request_id"], data["conversation_id"], data["agent"]) == (request_id, thread_id, "puppet")
        assert (data["type"], data["status"], data["expires_at"]) == ("permission", "pending", None)
        assert data["request_data"]["tool_name"] == "guarded"
        ann.resume(thread_id, "continue")
        _, settled = receiver.wait_for_events("request.asked", "request.settled")
        data = settled.json["data"]
        assert (data["request_id"], data["status"], data["answered_by"]) == (request_id, "answered", "ann")
        assert (data["source"], data["response"]["decision"]) == ("threads", "accept")
        assert data["answered_at"]
        assert {one["id"] for one in hook.wait_for("delivered", 2)} == {told.id, settled.id}


def test_a_cancelled_request_is_told_of_also_when_its_thread_is_deleted(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with Hook(admin, receiver.url, events=["request.settled"]):
        thread_id, request_id = asked(ann, "deleted")
        ann.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
        (told,) = receiver.wait_for_events("request.settled")
        data = told.json["data"]
        assert (data["request_id"], data["status"], data["response"]) == (request_id, "cancelled", None)


def test_a_request_that_nobody_answers_is_told_of_before_and_after_its_deadline(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with Hook(admin, receiver.url):
        thread_id = ann.new_thread()
        ann.chat(thread_id, script(calls(("hurried", {"seconds": 4.0}))))
        asked_for, expiring, settled = receiver.wait_for_events("request.asked", "request.expiring", "request.settled")
        assert expiring.json["data"] | {"status": "pending"} == asked_for.json["data"]
        assert expiring.json["data"]["expires_at"]
        assert settled.json["data"]["status"] == "expired"
        assert settled.json["data"]["response"] is None


def test_a_secret_that_a_person_gave_is_in_no_delivery(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with Hook(admin, receiver.url, events=BOTH):
        thread_id = ann.new_thread()
        ann.chat(thread_id, script(calls(variables(KEY))))
        ann.resume(thread_id, "answer", answers=["sk-very-secret-value"])
        told = receiver.wait_for_events("request.asked", "request.settled")
        assert all(b"sk-very-secret-value" not in one.body for one in told)
        assert told[1].json["data"]["response"]["values"] == {"API_KEY": "***"}


def test_a_webhook_of_another_agent_or_one_that_is_removed_hears_nothing(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with (
        Hook(admin, f"{receiver.url}/all") as everything,
        Hook(admin, f"{receiver.url}/other", agents=["other"]),
        Hook(admin, f"{receiver.url}/removed") as removed,
    ):
        assert admin.delete(removed.path).json() == {"id": removed.made["id"], "removed": True}
        thread_id, _ = asked(ann, "of-puppet")
        ann.resume(thread_id, "cancel")
        everything.wait_for("delivered", 2)
        assert {one.path for one in receiver.received} == {"/all"}
        for gone in (admin.delete(removed.path), admin.get(f"{removed.path}/deliveries")):
            assert (gone.status_code, gone.json()["code"]) == (404, "not_found")


def test_a_receiver_that_is_down_gets_it_when_it_is_up_again(
    admin: httpx.Client, ann: ThreadsClient, receiver: Receiver
) -> None:
    with Hook(admin, receiver.url, events=["request.asked"]) as hook:
        receiver.stop()
        asked(ann, "while-down")
        (waiting,) = wait_for(hook.deliveries, lambda seen: bool(seen) and seen[0]["last_error"] is not None)
        assert (waiting["status"], waiting["attempts"], waiting["last_status"]) == ("waiting", 1, None)
        assert waiting["next_attempt_at"]
        receiver.start()
        (delivered,) = hook.wait_for("delivered")
        assert (delivered["id"], delivered["attempts"]) == (waiting["id"], 2)
        assert [one.id for one in receiver.received] == [waiting["id"]]


def test_a_redirect_is_not_followed(admin: httpx.Client, ann: ThreadsClient) -> None:
    with Receiver([302]) as receiver, Hook(admin, f"{receiver.url}/hook", events=["request.asked"]) as hook:
        asked(ann, "redirected")
        (seen,) = wait_for(hook.deliveries, lambda seen: bool(seen) and seen[0]["last_status"] is not None)
        assert (seen["status"], seen["last_status"]) == ("waiting", 302)
        assert {one.path for one in receiver.received} == {"/hook"}


def test_a_delivery_is_replayed_as_it_was(admin: httpx.Client, ann: ThreadsClient, receiver: Receiver) -> None:
    with Hook(admin, receiver.url, events=["request.asked"]) as hook:
        asked(ann, "replayed")
        (delivered,) = hook.wait_for("delivered")
        replayed = admin.post(f"{hook.path}/deliveries/{delivered['id']}/replay")
        assert (replayed.status_code, replayed.json()["status"]) == (200, "waiting")
        first, second = receiver.wait_for(lambda seen: len(seen) == 2)
        assert (first.id, first.body) == (second.id, second.body)
        unknown = admin.post(f"{hook.path}/deliveries/dlv_none/replay")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")


def test_deliveries_are_listed_page_by_page(admin: httpx.Client, ann: ThreadsClient, receiver: Receiver) -> None:
    with Hook(admin, receiver.url, events=["request.asked"]) as hook:
        requests = [asked(ann, f"page-{number}")[1] for number in range(3)]
        hook.wait_for("delivered", 3)
        first = admin.get(f"{hook.path}/deliveries", params={"limit": 2}).json()
        assert len(first["deliveries"]) == 2
        rest = admin.get(f"{hook.path}/deliveries", params={"cursor": first["next_cursor"], "limit": 2}).json()
        assert rest["next_cursor"] is None
        listed = [one["request_id"] for one in (*first["deliveries"], *rest["deliveries"])]
        assert listed == requests[::-1]
        wrong = admin.get(f"{hook.path}/deliveries", params={"cursor": "no"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_input")


def test_the_secret_is_shown_once(admin: httpx.Client, receiver: Receiver) -> None:
    with Hook(admin, receiver.url, events=["request.asked"], agents=["puppet"]) as hook:
        assert hook.made.keys() == {"id", "url", "events", "agents", "secret", "created_at"}
        (listed,) = admin.get(PATH).json()["webhooks"]
        assert listed["created_by"] == "root"
        shared = hook.made.keys() - {"secret"}
        assert {name: listed[name] for name in shared} == {name: hook.made[name] for name in shared}
        assert hook.made["secret"] not in admin.get(PATH).text


def test_whoever_is_no_admin_is_refused(ann: ThreadsClient, receiver: Receiver) -> None:
    http = ann.http
    for refused in (
        http.post(PATH, json={"url": receiver.url}),
        http.get(PATH),
        http.delete(f"{PATH}/hook_1"),
        http.get(f"{PATH}/hook_1/deliveries"),
        http.post(f"{PATH}/hook_1/deliveries/dlv_1/replay"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://localhost/", "host"),
        ("https://hooks.example.com/", "host"),
        ("http://ann:secret@127.0.0.1/", "credentials"),
        ("ftp://127.0.0.1/", "form"),
    ],
)
def test_an_address_that_may_not_be_told_is_refused_with_the_reason(admin: httpx.Client, url: str, code: str) -> None:
    refused = admin.post(PATH, json={"url": url})
    assert refused.status_code == 400
    assert [error["code"] for error in refused.json()["errors"]] == [code]
    assert admin.get(PATH).json() == {"webhooks": []}


@pytest.mark.parametrize(
    ("environment", "code"),
    [({}, []), ({"INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1 localhost"}, ["address"])],
    ids=["no hosts", "no private addresses"],
)
def test_nothing_is_told_into_a_private_network_unless_the_operator_allows_it(
    tmp_path: Path, witness: Witness, receiver: Receiver, environment: dict[str, str], code: list[str]
) -> None:
    process = a_server(tmp_path, witness, **environment)
    try:
        root = ThreadsClient(process.start().url, "root").sign_in()
        for host in ("127.0.0.1", "localhost"):
            refused = root.http.post(PATH, json={"url": f"http://{host}:{receiver.port}/"})
            assert refused.status_code == 400
            assert [error["code"] for error in refused.json().get("errors", [])] == code
        asked(root, "nobody-told")
        root.http.close()
    finally:
        process.close()
    assert receiver.received == []


def test_what_was_committed_and_not_sent_when_the_server_died_is_sent_after_the_restart(
    tmp_path: Path, witness: Witness, receiver: Receiver
) -> None:
    process = a_server(tmp_path, witness, **ALLOWED)
    try:
        root = ThreadsClient(process.start(failpoints="ask.committed=kill").url, "root").sign_in()
        made = Hook(root.http, receiver.url, events=["request.asked"]).made
        thread_id = root.new_thread()
        with pytest.raises(httpx.TransportError):
            root.chat(thread_id, script(calls(("guarded", {"name": "killed"}))))
        process.wait_until_dead()
        assert receiver.received == []
        again = root.at(process.start(failpoints="").url)
        (told,) = receiver.wait_for_events("request.asked")
        assert told.is_signed_with(made["secret"])
        assert told.json["data"]["conversation_id"] == thread_id
        for client in (root, again):
            client.http.close()
    finally:
        process.close()
