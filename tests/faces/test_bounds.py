"""Who sends too much, too deeply, too often, or does not read, is told so or dropped, and nobody else notices."""

import json
import re
import socket
import time
from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support import puppet
from tests.support.people import People
from tests.support.puppet import calls, flood, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import Reply, ThreadsClient
from tests.support.waiting import WAIT_SECONDS, wait_for
from tests.support.wire import at_once, following, opened, until
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P16")

BURST = 60
STREAMS = 3
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """A server with narrow bounds."""
    environment = {
        **witness.environment,
        "INTERLOCK_RATE_LIMIT": "5",
        "INTERLOCK_RATE_BURST": str(BURST),
        "INTERLOCK_STREAMS_PER_CALLER": str(STREAMS),
        "INTERLOCK_SLOW_SECONDS": "2",
    }
    with ServerProcess(tmp_path_factory.mktemp("bounds"), agents=[puppet.SPEC], environment=environment) as process:
        yield process


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """A server with the bounds that it has by itself: here only those who guess passwords meet them."""
    with ServerProcess(tmp_path_factory.mktemp("door"), agents=[puppet.SPEC]) as process:
        yield process


@pytest.fixture(scope="module")
def guests(door: ServerProcess) -> Generator[People]:
    with People(door.url) as people:
        yield people


@pytest.fixture
def guesser(door: ServerProcess) -> Generator[httpx.Client]:
    with door.client() as http:
        yield http


@pytest.fixture(scope="module")
def folk(strict: ServerProcess) -> Generator[People]:
    with People(strict.url) as people:
        yield people


@pytest.fixture
def client(strict: ServerProcess) -> Generator[httpx.Client]:
    with strict.client() as http:
        yield http


def nested(depth: int) -> bytes:
    """A message to a thread, as deep as that, with a field that nobody knows."""
    inner = depth - 1
    return b'{"message": "[]", "extra": ' + b"[" * inner + b"]" * inner + b"}"


def test_json_is_taken_64_levels_deep_and_refused_deeper(alice: ThreadsClient, thread: str) -> None:
    path = f"/api/chat/{thread}"
    taken = alice.http.post(path, content=nested(64), headers=JSON)
    assert taken.status_code == 200
    said = alice.history(thread)
    refused = alice.http.post(path, content=nested(65), headers=JSON)
    assert refused.status_code == 400
    assert "64" in refused.json()["detail"]
    assert alice.history(thread) == said


def test_brackets_in_a_text_are_no_levels(alice: ThreadsClient, thread: str) -> None:
    text = '["\\' * 300
    reply = alice.chat(thread, script(says(text)))
    assert (reply.status, reply.text) == (200, text)


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_deep_json_is_refused_however_it_is_cut(alice: ThreadsClient, thread: str, size: int) -> None:
    content = nested(65)
    pieces = (content[at : at + size] for at in range(0, len(content), size))
    reply = alice.http.post(f"/api/chat/{thread}", content=pieces, headers=JSON)
    assert reply.status_code == 400


def test_deep_json_is_refused_in_another_encoding_and_under_another_name(alice: ThreadsClient, thread: str) -> None:
    for content_type in ("application/json", "application/vnd.api+json", "text/plain"):
        content = nested(65).decode().replace('"[]"', '"∀"').encode("utf-16")
        headers = {"content-type": content_type}
        assert alice.http.post(f"/api/chat/{thread}", content=content, headers=headers).status_code == 400
    assert alice.history(thread) == []


def assert_slowed_down(reply: httpx.Response) -> None:
    assert reply.status_code == 429
    assert int(reply.headers["retry-after"]) >= 1
    assert reply.headers["content-type"] == "application/json"
    assert reply.json()["detail"]
    assert reply.headers["x-request-id"]


def refused_in_a_flood(send: Callable[[], httpx.Response]) -> httpx.Response:
    """The first that is slowed down; sent without a pause, for there is room for more with each moment."""
    until = time.monotonic() + WAIT_SECONDS
    replies = (send() for _ in iter(lambda: time.monotonic() < until, False))
    return next(reply for reply in replies if reply.status_code != 401)


def test_a_flood_is_told_to_slow_down_and_another_caller_does_not_notice(strict: ServerProcess, folk: People) -> None:
    mallory, victim = folk.named("mallory"), folk.named("victim")
    replies: list[httpx.Response] = []
    seen: list[int] = []
    for number in range(3 * BURST):
        replies.append(mallory.http.get("/api/sessions"))
        if number % 10 == 0:
            seen.append(victim.http.get("/api/sessions").status_code)
    assert {reply.status_code for reply in replies} == {200, 429}
    assert replies[0].status_code == 200
    assert_slowed_down(next(reply for reply in replies if reply.status_code == 429))
    assert set(seen) == {200}


def test_who_was_slowed_down_gets_on_after_waiting(folk: People) -> None:
    hasty = folk.named("hasty")
    wait_for(lambda: hasty.http.get("/api/sessions").status_code, lambda status: status == 429)
    assert wait_for(lambda: hasty.http.get("/api/sessions").status_code, lambda status: status == 200) == 200


def test_bad_credentials_are_slowed_down_and_good_ones_of_the_same_address_are_not(
    strict: ServerProcess, folk: People, client: httpx.Client
) -> None:
    good = folk.named("good")
    bad = {"authorization": "Bearer nonsense"}
    assert client.get("/api/sessions", headers=bad).status_code == 401
    assert_slowed_down(refused_in_a_flood(lambda: client.get("/api/sessions", headers=bad)))
    assert_slowed_down(refused_in_a_flood(lambda: client.get("/api/sessions")))
    assert good.http.get("/api/sessions").status_code == 200
    assert client.get("/healthz").status_code == 200


def sign_in(http: httpx.Client, username: str, password: str) -> httpx.Response:
    return http.post("/api/auth/login", json={"username": username, "password": password})


def test_guessing_a_password_is_slowed_down_and_the_right_one_works_after_waiting(
    guests: People, guesser: httpx.Client
) -> None:
    guessed, other = guests.named("guessed"), guests.named("other")
    replies = [sign_in(guesser, "guessed", f"wrong-{number}") for number in range(15)]
    assert [reply.status_code for reply in replies[:10]] == [401] * 10
    assert_slowed_down(wait_for(lambda: sign_in(guesser, "guessed", "wrong"), lambda reply: reply.status_code == 429))
    assert sign_in(guesser, "other", other.password).status_code == 200
    assert guessed.http.get("/api/sessions").status_code == 200
    right = wait_for(lambda: sign_in(guesser, "guessed", guessed.password), lambda reply: reply.status_code != 429)
    assert right.status_code == 200


def test_who_says_to_come_from_elsewhere_is_not_believed(guests: People, guesser: httpx.Client) -> None:
    guests.named("spoofed")
    numbers = count(1)

    def guess() -> httpx.Response:
        guesser.headers["x-forwarded-for"] = f"10.0.0.{next(numbers)}"
        return sign_in(guesser, "spoofed", "wrong")

    assert_slowed_down(refused_in_a_flood(guess))


def test_guesses_that_come_all_at_once_are_counted_one_by_one(door: ServerProcess, guests: People) -> None:
    guests.named("rushed")

    def guess(number: int) -> int:
        with door.client() as http:
            return sign_in(http, "rushed", f"wrong-{number}").status_code

    statuses = at_once(16, guess)
    assert set(statuses) == {401, 429}
    assert 10 <= statuses.count(401) < 16


def test_a_caller_has_so_many_streams_and_no_more(strict: ServerProcess, folk: People) -> None:
    owner, other = folk.named("owner"), folk.named("other")
    thread = owner.new_thread()
    with following(owner, thread), following(owner, thread):
        with following(owner, thread):
            refused = owner.http.get(f"/api/stream/{thread}")
            assert_slowed_down(refused)
            chat = owner.http.post(f"/api/chat/{thread}", json={"message": script(says("x"))})
            assert_slowed_down(chat)
            assert owner.history(thread) == []
            assert other.chat(other.new_thread(), script(says("free"))).text == "free"
        freed = wait_for(lambda: owner.chat(thread, script(says("room"))), lambda reply: reply.status == 200)
        assert freed.text == "room"


def test_a_stream_gives_its_place_back_however_it_ends(strict: ServerProcess, folk: People, witness: Witness) -> None:
    owner = folk.named("leaver")
    thread, paused = owner.new_thread(), owner.new_thread()
    assert owner.chat(paused, script(calls(("execute", {"command": "x"})))).events[-1] == "end"
    for number in range(STREAMS + 1):
        reply = wait_for(lambda: owner.chat(thread, script(says("told"))), lambda reply: reply.status != 409)
        assert (reply.status, reply.text) == (200, "told")
        assert owner.chat(paused, script(says("busy"))).status == 409
        assert owner.http.get("/api/stream/nobody-0").status_code == 403
        with opened(owner, f"/api/chat/{thread}", {"message": script(says("a", gate(f"leave-{number}")))}) as frames:
            next(frames)
        witness.release(f"leave-{number}")


def test_who_does_not_read_is_dropped_with_a_reason_and_others_get_everything(
    strict: ServerProcess, folk: People, witness: Witness
) -> None:
    reader = folk.named("reader")
    thread, text = reader.new_thread(), "x" * 2048
    message = script(says("begun ", gate("slow-reader"), flood(2000, text)))

    def read(which: int) -> Reply:
        if which:
            with following(reader, thread) as frames:
                witness.release("slow-reader")
                return Reply(200, until(frames, "end"))
        with opened(reader, f"/api/chat/{thread}", {"message": message}) as frames:
            return Reply(200, until(frames, "end"))

    with unread_stream(reader, f"/api/stream/{thread}") as slow:
        told, followed = at_once(2, read)
        (entry,) = wait_for(lambda: dropped(strict.log, f"/api/stream/{thread}"), bool)
        left = read_to_the_end(slow)
    assert told.text == followed.text == "begun " + "".join(f"{number} {text} " for number in range(2000))
    assert b"event: end" not in left
    assert re.search(r"caller user\W?\w+", entry["message"])
    assert text not in json.dumps(entry)


def test_an_answer_that_nobody_takes_is_not_kept_for_ever(strict: ServerProcess, folk: People) -> None:
    careless = folk.named("careless")
    thread = careless.new_thread()
    assert careless.chat(thread, script(says(flood(1500, "x" * 2048)))).events[-1] == "end"
    with unread_stream(careless, f"/api/history/{thread}") as slow:
        assert len(wait_for(lambda: dropped(strict.log, f"/api/history/{thread}"), bool)) == 1
        assert len(read_to_the_end(slow)) < 1500 * 2048
    assert len(careless.history(thread)) == 2


def dropped(log: Path, path: str) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [entry for entry in entries if entry["logger"] == "interlock.streams" and entry["path"] == path]


def read_to_the_end(connection: socket.socket) -> bytes:
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def unread_stream(client: ThreadsClient, path: str) -> socket.socket:
    """A reader with a small buffer that knows it is answered, and reads no more."""
    address = urlsplit(str(client.http.base_url))
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(30)
    connection.connect((address.hostname, address.port))
    token = client.http.headers["authorization"]
    request = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: {token}\r\n\r\n"
    connection.sendall(request.encode())
    assert connection.recv(1) == b"H"
    return connection
