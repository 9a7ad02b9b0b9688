"""Sockets over the life of a server: restarts, clients that do not read, and several who answer at once."""

import threading
from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support import hitl, puppet
from tests.support.hitl import QUESTION, HitlClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.sockets import HitlSocket, joined, unread
from tests.support.threads import ThreadsClient
from tests.support.waiting import WAIT_SECONDS, wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness

GOING_AWAY, TRY_AGAIN_LATER = 1001, 1013
ROUNDS = 15


@pytest.fixture
def own(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness, own_database: str | None
) -> Generator[ServerProcess]:
    """A server of the test's own, that gives up soon on who does not read."""
    environment = {**witness.environment, "INTERLOCK_SLOW_SECONDS": "2"}
    process = ServerProcess(tmp_path_factory.mktemp("own"), [puppet.SPEC], own_database, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def token(alice: ThreadsClient) -> str:
    return token_of(alice)


def token_of(client: ThreadsClient) -> str:
    return client.http.headers["authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize("violent", [False, True])
def test_who_connects_again_after_a_restart_has_lost_nothing(own: ServerProcess, violent: bool) -> None:
    alice = ThreadsClient(own.url).sign_in()
    with hitl.of(alice) as person:
        first = person.ask("clarification", QUESTION)
        conversation = first["conversation_id"]
        with (
            joined(own.url, token_of(alice), conversation_id=conversation) as socket,
            joined(own.url, token_of(alice)) as idle,
        ):
            last = socket.until("hitl_event")[-1]["id"]
            assert idle.is_alive()
            # Answered a moment before the end: the client may have heard of it, or not.
            person.respond(first["request_id"], {"answer": "A"})
            (own.kill if violent else own.stop)()
            closings = [socket.until_closed(), idle.until_closed()]
    if not violent:
        assert {code for code, _ in closings} == {GOING_AWAY}
    seen = closings[0][1]
    last = seen[-1]["id"] if seen else last
    again = alice.at(own.start().url)
    with hitl.of(again) as person, joined(own.url, token_of(again)) as socket:
        second = person.ask("clarification", QUESTION, conversation_id=conversation)
        socket.subscribe(conversation, last_event_id=last)
        while len(seen) < 2:
            seen.append(socket.receive())
        assert [(one["event_type"], one["request_id"]) for one in seen] == [
            ("clarification_answered", first["request_id"]),
            ("clarification_asked", second["request_id"]),
        ]
        assert socket.is_alive()
    for client in (alice, again):
        client.http.close()


def test_who_does_not_read_is_dropped_and_the_others_get_everything(own: ServerProcess) -> None:
    alice = ThreadsClient(own.url).sign_in()
    large: dict[str, Any] = {"question": "?" * 200_000, "options": []}
    with hitl.of(alice) as person, ExitStack() as stack:
        conversation = person.ask("clarification", QUESTION)["conversation_id"]
        for _ in range(3):
            stack.enter_context(unread(own.url, token_of(alice), conversation_id=conversation))
        reader = stack.enter_context(joined(own.url, token_of(alice), conversation_id=conversation))
        reader.until("hitl_event")
        heard: list[dict[str, Any]] = []
        listening = threading.Thread(target=lambda: heard.extend(reader.events(60)), daemon=True)
        listening.start()
        asked = [person.ask("clarification", large, conversation_id=conversation)["request_id"] for _ in range(60)]
        listening.join(WAIT_SECONDS)
        assert [one["request_id"] for one in heard] == asked
        wait_for(lambda: own.log.read_text().count("a socket was closed, too slow"), lambda count: count == 3)
        assert reader.is_alive()
    alice.http.close()


def test_of_two_sockets_and_a_post_that_answer_at_once_one_wins(
    server: ServerProcess, alice: ThreadsClient, people: People, token: str
) -> None:
    with hitl.of(alice) as person, ExitStack() as stack:
        root = token_of(people.named("root"))
        sockets = [stack.enter_context(joined(server.url, one)) for one in (token, root)]
        for _ in range(ROUNDS):
            asked = person.ask("clarification", QUESTION)
            _assert_one_wins(person, sockets, asked["request_id"])


def _assert_one_wins(person: HitlClient, sockets: list[HitlSocket], request_id: str) -> None:
    def answer(index: int) -> dict[str, Any]:
        if index < 2:
            return sockets[index].respond(request_id, {"answer": "AB"[index]})
        return person.try_respond(request_id, {"answer": "A"}).json()

    told = at_once(3, answer)
    won = [one["success"] for one in told]
    assert won.count(True) == 1
    settled = person.look(request_id)
    assert settled["answered_by"] == ("root" if won[1] else "alice")
    assert settled["response"] == {"answer": "B" if won[1] else "A"}
    for one in told:
        if not one["success"]:
            details = one["error"]["details"]
            assert one["error"]["code"] == "HITL_REQUEST_NOT_PENDING"
            wanted = {name: settled[name] for name in ("request_id", "answered_by", "answered_at", "source")}
            assert details.items() >= {**wanted, "current_status": "answered"}.items()


def test_an_answer_on_a_socket_lets_the_agent_go_on(
    server: ServerProcess, alice: ThreadsClient, token: str, witness: Witness
) -> None:
    thread_id = alice.new_thread()
    names = ["by-socket-0", "by-socket-1"]
    alice.chat(thread_id, script(calls(*(("guarded", {"name": name}) for name in names))))
    with joined(server.url, token, conversation_id=thread_id) as socket:
        socket.receive()
        asked = socket.events(2)
        for one, granted in zip(asked, (True, False), strict=True):
            assert socket.respond(one["request_id"], {"granted": granted})["success"]
    alice.wait_for_rest(thread_id)
    alice.wait_for(lambda: alice.history(thread_id), lambda messages: messages[-1]["role"] == "assistant")
    assert [witness.count(name) for name in names] == [1, 0]
