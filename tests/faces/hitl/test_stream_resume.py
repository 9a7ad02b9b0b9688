"""A stream over many disconnects, in the middle of frames too, and over crashes: what was seen is the log."""

import random
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.support import hitl, puppet
from tests.support.hitl import AGENT, ASKED, QUESTION, HitlClient, chatted
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import Frame, ThreadsClient, parse
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P14")

DISCONNECTS = 100
LAST = "the last one"
QUIET = 0.3
"""After so many seconds without a byte the client gives up and comes back, so that its cuts do not wait for events."""


@dataclass
class Cutting:
    """A client that leaves after some bytes, wherever in a frame that is, and comes back with the last id it has.

    It does what the event stream format says: an id counts once its frame is complete, and an incomplete frame is
    forgotten.
    """

    url: Callable[[], str]
    credential: str
    conversation_id: str
    dice: random.Random
    seen: list[Frame] = field(default_factory=list[Frame])
    last: str | None = None
    connections: int = 0

    def until(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            self.connections += 1
            try:
                self._read(self.dice.choice((1, 20, 150, 400, 900, 2500)))
            except (TimeoutError, ConnectionError):
                continue

    def _read(self, budget: int) -> None:
        with socket.create_connection(_place(self.url()), timeout=5.0) as connection:
            connection.sendall(self._request())
            received = b""
            while b"\r\n\r\n" not in received:
                received += _some(connection, 4096)
            head, _, received = received.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            connection.settimeout(QUIET)
            try:
                while len(received) < budget:
                    received += _some(connection, budget - len(received))
            finally:
                self._take(_unchunked(received[:budget]))

    def _request(self) -> bytes:
        lines = [
            f"GET {AGENT}/stream?{urlencode({'conversation_id': self.conversation_id})} HTTP/1.1",
            f"Host: {urlsplit(self.url()).netloc}",
            f"Authorization: Bearer {self.credential}",
        ]
        if self.last is not None:
            lines.append(f"Last-Event-ID: {self.last}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def _take(self, body: bytes) -> None:
        complete, separator, _ = body.rpartition(b"\n\n")
        for block in (complete + separator).split(b"\n\n")[:-1]:
            lines = block.decode().split("\n")
            self.last = next((line[4:] for line in lines if line.startswith("id: ")), self.last)
            self.seen += parse(iter([*lines, ""]))


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    return parts.hostname, parts.port


def _some(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size)
    if not data:
        raise ConnectionResetError
    return data


def _unchunked(body: bytes) -> bytes:
    """The content of a body in chunks, of the last one as much as there is."""
    content = b""
    while b"\r\n" in body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        content += body[:length]
        body = body[length + 2 :]
    return content


def events(frames: list[Frame]) -> list[tuple[str | None, str, str]]:
    return [(frame.id, frame.event, frame.data["request_id"]) for frame in frames]


def is_last(frame: Frame) -> bool:
    return frame.event == "request_cancelled" and frame.data["data"].get("reason") == LAST


def whole_log(person: HitlClient, conversation_id: str) -> list[Frame]:
    """The log as one follower reads it who is never disturbed."""
    with person.events(conversation_id, last="0") as frames:
        return list(_until_last(frames))


def _until_last(frames: Iterator[Frame]) -> Iterator[Frame]:
    for frame in frames:
        yield frame
        if is_last(frame):
            return


@contextmanager
def cutting(client: Cutting) -> Generator[None]:
    """Let it read beside the block: the block begins once it has an id to go on from."""
    reading = threading.Thread(
        target=client.until, args=(lambda: any(is_last(frame) for frame in client.seen),), daemon=True
    )
    reading.start()
    wait_for(lambda: client.last, lambda last: last is not None)
    yield
    reading.join(60)
    assert not reading.is_alive(), events(client.seen)


def ask_and_answer(person: HitlClient, conversation_id: str, dice: random.Random) -> None:
    kind, data, response = dice.choice([*ASKED.values()])
    asked = person.ask(kind, data, conversation_id=conversation_id)
    if dice.random() < 0.2:
        person.try_cancel(asked["request_id"])
    else:
        person.respond(asked["request_id"], response)


def finish(person: HitlClient, conversation_id: str) -> None:
    asked = person.ask("clarification", QUESTION, conversation_id=conversation_id)
    person.try_cancel(asked["request_id"], reason=LAST).raise_for_status()


@pytest.mark.parametrize("seed", range(2))
def test_what_is_seen_over_a_hundred_disconnects_is_the_log(
    server: ServerProcess, person: HitlClient, alice: ThreadsClient, seed: int
) -> None:
    conversation = person.ask("clarification", QUESTION)["conversation_id"]
    client = Cutting(lambda: server.url, _token(alice), conversation, random.Random(seed))
    with cutting(client):
        rounds = random.Random(-seed)
        while client.connections < DISCONNECTS:
            ask_and_answer(person, conversation, rounds)
        finish(person, conversation)
    assert client.connections >= DISCONNECTS
    assert events(client.seen) == events(whole_log(person, conversation))
    assert len(client.seen) > 20


def test_requests_asked_at_once_are_seen_once_over_disconnects(
    server: ServerProcess, person: HitlClient, alice: ThreadsClient, witness: Witness
) -> None:
    thread_id = alice.new_thread()
    names = [f"cut-{number}" for number in range(5)]
    named: list[Call] = [("guarded", {"name": name}) for name in names]
    client = Cutting(lambda: server.url, _token(alice), thread_id, random.Random(7))
    reading = threading.Thread(target=client.until, args=(lambda: len(client.seen) >= 20,), daemon=True)
    reading.start()
    wait_for(lambda: client.last, lambda last: last is not None)
    for _ in range(2):
        chatted(alice, thread_id, script(calls(*named)))
        for one in person.pending(thread_id):
            person.respond(one["request_id"], {"granted": True})
        alice.wait_for(lambda: alice.history(thread_id), lambda messages: messages[-1]["role"] == "assistant")
    reading.join(60)
    with person.events(thread_id, last="0") as frames:
        log = [next(frames) for _ in range(20)]
    assert events(client.seen) == events(log)
    assert [witness.count(name) for name in names] == [2] * 5


def test_what_is_seen_over_kills_of_the_server_is_the_log(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness, own_database: str | None
) -> None:
    folder = tmp_path_factory.mktemp("killed")
    process = ServerProcess(folder, [puppet.SPEC], own_database, environment=witness.environment)
    try:
        alice = ThreadsClient(process.start().url).sign_in()
        with hitl.of(alice) as person:
            conversation = person.ask("clarification", QUESTION)["conversation_id"]
        up = threading.Event()
        up.set()
        client = Cutting(lambda: process.url if up.wait(60) else "", _token(alice), conversation, random.Random(3))
        with cutting(client):
            for life in range(3):
                with HitlClient(process.url, _token(alice)) as person:
                    for number in range(8):
                        ask_and_answer(person, conversation, random.Random(10 * life + number))
                    if life < 2:
                        up.clear()
                        process.kill()
                        process.start()
                        up.set()
            with HitlClient(process.url, _token(alice)) as person:
                finish(person, conversation)
        with HitlClient(process.url, _token(alice)) as person:
            log = whole_log(person, conversation)
        assert events(client.seen) == events(log)
        assert len(log) == 1 + 3 * 8 * 2 + 2
        alice.http.close()
    finally:
        process.close()


def _token(client: ThreadsClient) -> Any:
    return client.http.headers["authorization"].removeprefix("Bearer ")
