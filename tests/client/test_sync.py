"""The twin without async does what the client does."""

import inspect
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator

import pytest

from interlock_client import Interlock, NotAuthenticated, SyncInterlock
from interlock_client.events import End, Partial, RequestAsked, RequestSettled
from interlock_client.hitl import PendingRequest
from tests.support.people import People
from tests.support.puppet import says, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.wire import at_once, beside

ASYNC_ONLY = {"close", "from_environment", "sign_in", "url"}


@pytest.fixture
def person(server: ServerProcess, people: People) -> Generator[SyncInterlock]:
    people.named("alice")
    with SyncInterlock.sign_in(server.url, "alice", "wonderland") as client:
        yield client


@pytest.fixture
def worker(server: ServerProcess, person: SyncInterlock) -> Generator[SyncInterlock]:
    made = person.create_key("sync-worker", "agent")
    with SyncInterlock(server.url, key=made.key) as client:
        yield client
    person.revoke_key(made.id)


def sees(person: SyncInterlock, worker: SyncInterlock, count: int = 1) -> list[PendingRequest]:
    def look() -> list[PendingRequest]:
        return list(person.pending(worker.conversation_id)) if worker.conversation_id else []

    return wait_for(look, lambda found: len(found) == count)


def public(kind: type) -> dict[str, object]:
    return {name: value for name, value in inspect.getmembers(kind) if not name.startswith("_")}


def test_it_has_every_method_with_the_same_parameters() -> None:
    twin = public(SyncInterlock)
    for name, method in public(Interlock).items():
        assert name in twin
        if name not in ASYNC_ONLY:
            assert inspect.signature(twin[name]) == inspect.signature(method), name  # pyright: ignore[reportArgumentType]
            assert not inspect.iscoroutinefunction(twin[name])
    assert inspect.signature(SyncInterlock) == inspect.signature(Interlock)


def test_nothing_of_it_is_async(person: SyncInterlock) -> None:
    assert not isinstance(person.pending(), AsyncGenerator)
    assert isinstance(person.keys(), list)


def test_an_ask_waits_for_its_answer(person: SyncInterlock, worker: SyncInterlock) -> None:
    def answer() -> None:
        [asked] = sees(person, worker)
        person.respond(asked.request_id, answer="blue")

    with beside(answer):
        assert worker.ask_clarification("Which colour?", ["red", "blue"]) == "blue"


def test_many_threads_may_ask_at_once(person: SyncInterlock, worker: SyncInterlock) -> None:
    def answer() -> None:
        for asked in sees(person, worker, 10):
            person.respond(asked.request_id, answer=asked.request_data["question"].upper())

    with beside(answer):
        given = at_once(10, lambda number: worker.ask_clarification(f"what is {number}?"))
    assert given == [f"WHAT IS {number}?" for number in range(10)]


def test_streams_are_plain_iterators(person: SyncInterlock, worker: SyncInterlock) -> None:
    with beside(lambda: worker.ask_clarification("Well?")):
        [asked] = sees(person, worker)
        events = person.follow(asked.conversation_id)
        assert isinstance(next(events), RequestAsked)
        person.respond(asked.request_id, answer="yes")
        assert isinstance(next(events), RequestSettled)
        events.close()
    with pytest.raises(StopIteration):
        next(events)


def test_a_chat_is_a_plain_iterator(person: SyncInterlock) -> None:
    events = list(person.chat(script(says("hello"))))
    assert [type(event) for event in events] == [Partial, End]


def test_errors_are_the_same(server: ServerProcess) -> None:
    with SyncInterlock(server.url, key="ms_sk_none") as nobody, pytest.raises(NotAuthenticated):
        nobody.keys()
    with pytest.raises(NotAuthenticated):
        SyncInterlock.sign_in(server.url, "alice", "guess")


def test_a_closed_client_says_so(server: ServerProcess) -> None:
    client = SyncInterlock(server.url)
    client.close()
    client.close()
    with pytest.raises(RuntimeError):
        client.keys()


def test_an_interrupt_typed_in_a_terminal_withdraws_the_request(server: ServerProcess, person: SyncInterlock) -> None:
    made = person.create_key("interrupted", "agent")
    program = "from interlock_client import SyncInterlock\nSyncInterlock.from_environment().ask_clarification('Well?')"
    environment = {**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": made.key}
    running = subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=subprocess.DEVNULL)
    try:
        [asked] = wait_for(lambda: list(person.pending(agent="interrupted")), lambda found: len(found) == 1)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) != 0
        assert person.request(asked.request_id).status == "cancelled"
    finally:
        running.kill()
        running.wait()


def test_a_program_ends_with_a_stream_half_read(server: ServerProcess, person: SyncInterlock) -> None:
    thread_id = person.create_thread()
    made = person.create_key("reader")
    program = (
        "from interlock_client import SyncInterlock\n"
        "client = SyncInterlock.from_environment()\n"
        f"events = client.chat({script(says('hello', 'there'))!r}, {thread_id!r})\n"
        "print(next(events).content)"
    )
    environment = {**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": made.key}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout.strip()) == (0, "hello")
