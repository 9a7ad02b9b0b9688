"""A reader who names a language is told nothing in another one, on any face; who names none reads the contract's."""

import json
import re
from collections.abc import Generator, Iterator
from itertools import count
from typing import Any

import pytest

from interlock_client.sessions import SYSTEM_MESSAGE
from tests.support import confirm, hitl, sessions
from tests.support.inbox import INBOX, answer
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.sockets import joined
from tests.support.threads import ThreadsClient

CHINESE = re.compile(r"[\u4e00-\u9fff]")
DELETE = "delete nothing.txt"
_numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """The demo agent alone; it speaks Chinese to who names no language."""
    with ServerProcess(tmp_path_factory.mktemp("languages") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(people: People) -> Iterator[ThreadsClient]:
    """Somebody new, who reads English."""
    somebody = people.named(f"reader-{next(_numbers)}")
    somebody.http.headers["accept-language"] = "en"
    yield somebody
    somebody.http.headers.pop("accept-language", None)


def is_english(told: Any) -> bool:
    return CHINESE.search(json.dumps(told, ensure_ascii=False)) is None


def assert_english(*told: Any) -> None:
    for one in told:
        assert is_english(one), one


def test_threads(person: ThreadsClient) -> None:
    thread_id = person.new_thread()
    frames = [frame.data for frame in person.chat(thread_id, DELETE).frames]
    assert frames[-2]["taskName"] == "Delete file"
    busy = person.http.post(f"/api/chat/{thread_id}", json={"message": "x"})
    assert busy.status_code == 409
    assert_english(*frames, busy.json(), person.http.get(f"/api/status/{thread_id}").json())
    assert_english(*(frame.data for frame in person.resume(thread_id, "cancel").frames))


def test_hitl(person: ThreadsClient) -> None:
    thread_id = person.new_thread()
    person.chat(thread_id, DELETE)
    with hitl.of(person) as client:
        client.http.headers["accept-language"] = "en"
        pending = client.one_pending(thread_id)
        assert pending["request_data"]["tool_display_name"] == "Delete file"
        assert "translated" not in pending["request_data"]
        with client.events(thread_id) as frames:
            asked = next(frames).data
        whole = client.told(thread_id, "permission_asked")
        assert asked["data"]["tool_display_name"] == whole["data"]["tool_display_name"] == "Delete file"
        assert_english(pending, asked, whole, client.look(pending["request_id"]), client.everything())
        assert_english(client.respond(pending["request_id"], {"granted": False}))
        assert_english(client.try_respond(pending["request_id"], {"granted": False}).json())


def test_the_socket_of_hitl(person: ThreadsClient) -> None:
    thread_id = person.new_thread()
    person.chat(thread_id, DELETE)
    headers = {name: person.http.headers[name] for name in ("authorization", "accept-language")}
    with joined(str(person.http.base_url), None, headers=headers, conversation_id=thread_id) as socket:
        told = socket.until("hitl_event")
        assert_english(*told)
        assert '"tool_display_name": "Delete file"' in json.dumps(told[-1])


def test_confirm(person: ThreadsClient) -> None:
    with confirm.of(person, **{"accept-language": "en"}) as client:
        asked = client.ask(DELETE)
        assert asked["metadata"]["tool_display_name"] == "Delete file"
        client.refuse(asked["step_id"], "no")
        client.wait_for("agent.final_answer")
        assert_english(*client.told)


def test_sessions(person: ThreadsClient) -> None:
    client = sessions.of(person)
    response = client.try_invoke(DELETE).json()
    assert response["status"] == "interrupted"
    assert_english(response, client.status(), client.try_invoke("x").json())
    client.session_id = response["session_id"]
    done = client.resume("reject")
    assert done["result"]["messages"][0]["role"] == "system"
    assert_english(done)
    client.close()


def test_the_inbox_and_the_history(person: ThreadsClient) -> None:
    person.chat(person.new_thread(), DELETE)
    listed = person.http.get(INBOX).json()
    (entry,) = listed["requests"]
    assert entry["display_name"] == "Delete file"
    address = f"{INBOX}/requests/{entry['request_id']}"
    shown = person.http.get(address).json()
    assert answer(person, shown, {"decision": "reject", "message": "no"}).status_code == 200
    assert_english(listed, shown, person.http.get(address).json(), person.http.get("/api/v1/history").json())


def test_who_names_no_language_is_told_in_that_of_the_contract(person: ThreadsClient) -> None:
    del person.http.headers["accept-language"]
    thread_id = person.new_thread()
    asked = person.chat(thread_id, "delete nothing.txt").first("interrupt")
    assert (asked["taskName"], asked["info"]) == ("删除文件", "正在执行操作: delete_file")
    assert asked["requests"][0]["request_data"]["tool_display_name"] == "删除文件"
    client = sessions.of(person)
    assert client.try_invoke("hello").json()["result"]["messages"][0]["content"] == SYSTEM_MESSAGE
    client.close()


def test_a_server_that_speaks_english_puts_no_chinese_into_a_prompt(tmp_path_factory: pytest.TempPathFactory) -> None:
    environment = {"INTERLOCK_LOCALE": "en"}
    with ServerProcess(tmp_path_factory.mktemp("en") / "data", auth="none", environment=environment) as server:
        client = sessions.SessionsClient(server.url, "ann")
        assert_english(client.try_invoke(DELETE).json(), client.status())
        client.session_id = client.status()["session_id"]
        assert_english(client.resume("accept"))
        client.close()
