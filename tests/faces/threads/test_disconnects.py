"""Who leaves in the middle: the run stops at a safe point, unless somebody comes back or it was told to go on."""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.support import confirm, hitl
from tests.support.puppet import calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.sockets import joined
from tests.support.threads import ThreadsClient
from tests.support.wire import following, opened, until
from tests.support.witness import Witness

StopOf = Callable[[str], str | None]


@pytest.fixture
def stop_of(server: ServerProcess) -> StopOf:
    """Why the last run of a thread was asked to stop; None if it was not."""

    def look(thread_id: str) -> str | None:
        with sqlite3.connect(f"file:{server.data / 'interlock.db'}?mode=ro", uri=True) as database:
            query = "SELECT stop_reason FROM runs WHERE thread_id = ? ORDER BY created_at DESC LIMIT 1"
            (reason,) = database.execute(query, (thread_id,)).fetchone()
        database.close()
        return reason

    return look


def leave_during(
    client: ThreadsClient, thread_id: str, message: str, event: str = "tool/start", **headers: str
) -> None:
    with opened(client, f"/api/chat/{thread_id}", {"message": message}, **headers) as frames:
        until(frames, event)


def let_the_grace_pass(client: ThreadsClient, witness: Witness, stop_of: StopOf, name: str) -> None:
    """Another run is left alone now: when it was asked to stop, so was every one that was left alone before."""
    thread_id = client.new_thread()
    leave_during(client, thread_id, script(says("waiting", gate(name))), "messages/partial")
    client.wait_for(lambda: stop_of(thread_id), bool)
    witness.release(name)


def test_a_run_that_nobody_follows_stops_when_its_tool_has_ended(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf
) -> None:
    first = script(calls(("hold", {"name": "left"})), calls(("note", {"name": "after-left"})))
    leave_during(alice, thread, first)
    alice.wait_for(lambda: stop_of(thread), bool)
    assert alice.chat(thread, script(says("too early"))).status == 409
    witness.release("left")
    history = alice.wait_for(lambda: alice.history(thread), lambda messages: len(messages) == 2)
    assert history == [{"role": "user", "content": first}, {"role": "tool", "content": "held left"}]
    assert alice.wait_for(lambda: alice.chat(thread, script(says("on we go"))), lambda reply: reply.status == 200).text
    assert [message["content"] for message in alice.history(thread)][1:] == [
        "held left",
        script(says("on we go")),
        "on we go",
    ]
    assert (witness.count("left"), witness.count("after-left")) == (1, 0)


def test_calls_that_were_not_run_are_closed_in_the_history(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf
) -> None:
    leave_during(
        alice,
        thread,
        script(calls(("note", {"name": "never-run"}), say=["thinking", gate("open")])),
        "messages/partial",
    )
    alice.wait_for(lambda: stop_of(thread), bool)
    witness.release("open")
    reply = alice.wait_for(lambda: alice.chat(thread, script(says("next"))), lambda reply: reply.status == 200)
    assert reply.events[-1] == "end"
    contents = [message["content"] for message in alice.history(thread)]
    assert contents[1:3] == ["thinking", "Not run: the run was stopped before this call."]
    assert witness.count("never-run") == 0


def test_a_run_goes_on_when_somebody_comes_back_in_time(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf
) -> None:
    leave_during(alice, thread, script(calls(("hold", {"name": "back"})), calls(("note", {"name": "after-back"}))))
    with following(alice, thread, "0") as frames:
        let_the_grace_pass(alice, witness, stop_of, "clock-1")
        assert stop_of(thread) is None
        witness.release("back")
        assert until(frames, "end")[-2].data["content"] == "held back | noted after-back"
    assert witness.count("after-back") == 1


def test_a_run_goes_on_alone_when_it_was_told_to(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf
) -> None:
    message = script(calls(("hold", {"name": "alone"})), calls(("note", {"name": "after-alone"})))
    leave_during(alice, thread, message, **{"x-on-disconnect": "continue"})
    let_the_grace_pass(alice, witness, stop_of, "clock-2")
    assert stop_of(thread) is None
    witness.release("alone")
    alice.wait_for(lambda: witness.count("after-alone"), lambda count: count == 1)


@pytest.mark.parametrize("header", [{}, {"x-on-disconnect": "continue"}])
def test_a_resume_is_left_like_a_chat(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf, header: dict[str, str]
) -> None:
    name = f"resumed-{len(header)}"
    alice.chat(thread, script(calls(("guarded", {"name": "x"})), calls(("hold", {"name": name}))))
    with opened(alice, f"/api/resume/{thread}", {"action": "continue"}, **header) as frames:
        until(frames, "tool/end")
        until(frames, "tool/start")
    let_the_grace_pass(alice, witness, stop_of, f"clock-{name}")
    assert (stop_of(thread) is None) is bool(header)
    witness.release(name)
    held = {"role": "tool", "content": f"held {name}"}
    alice.wait_for(lambda: alice.history(thread), lambda messages: held in messages)


def test_leaving_a_thread_that_waits_for_a_person_changes_nothing(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf
) -> None:
    leave_during(alice, thread, script(calls(("guarded", {"name": "left-waiting"}))), "interrupt")
    let_the_grace_pass(alice, witness, stop_of, "clock-3")
    assert alice.status(thread)["status"] == "interrupted"
    alice.resume(thread, "continue")
    assert witness.count("left-waiting") == 1


@contextmanager
def by_socket(person: ThreadsClient, thread_id: str) -> Generator[None]:
    token = person.http.headers["authorization"].removeprefix("Bearer ")
    with joined(str(person.http.base_url), token, conversation_id=thread_id) as socket:
        socket.until("subscribed")
        yield


@contextmanager
def by_confirm_socket(person: ThreadsClient, thread_id: str) -> Generator[None]:
    with confirm.of(person) as connection:
        connection.reconnect(thread_id)
        yield


@contextmanager
def by_events(person: ThreadsClient, thread_id: str) -> Generator[None]:
    with hitl.of(person) as client, client.events(thread_id):
        yield


@pytest.mark.parametrize("join", [by_socket, by_confirm_socket, by_events])
def test_a_run_that_is_followed_by_another_face_goes_on_until_that_follower_leaves_too(
    alice: ThreadsClient, thread: str, witness: Witness, stop_of: StopOf, join: Any
) -> None:
    name = f"elsewhere-{join.__name__}"
    with ExitStack() as follower:
        with opened(alice, f"/api/chat/{thread}", {"message": script(calls(("hold", {"name": name})))}) as frames:
            until(frames, "tool/start")
            follower.enter_context(join(alice, thread))
        let_the_grace_pass(alice, witness, stop_of, f"clock-{name}")
        assert stop_of(thread) is None
    alice.wait_for(lambda: stop_of(thread), bool)
    witness.release(name)
