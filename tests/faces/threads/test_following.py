"""`GET /api/stream`: the log after `Last-Event-ID`, then live, without a gap and without a duplicate."""

import random
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.puppet import calls, flood, gate, says, script, slowly
from tests.support.threads import Frame, ThreadsClient, parse
from tests.support.wire import at_once, following, opened, until
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P14")


def replay(client: ThreadsClient, thread_id: str, ends: int, last: str = "0") -> list[Frame]:
    """The thread's log after `last`, as this face shows it, until so many runs have ended."""
    seen: list[Frame] = []
    with following(client, thread_id, last) as frames:
        for _ in range(ends):
            seen += until(frames, "end")
    return seen


def told(frames: list[Frame]) -> list[tuple[str, str]]:
    """What a client makes of frames: the text before each event that is no text, and the event."""
    story: list[tuple[str, str]] = []
    text = ""
    for frame in frames:
        if frame.event == "messages/partial":
            text = frame.data["content"] if frame.data.get("reset") else text + frame.data["content"]
        else:
            story.append((text, f"{frame.id} {frame.event}"))
            text = ""
    return story


def test_a_thread_is_replayed_from_its_beginning(alice: ThreadsClient, thread: str) -> None:
    frames = alice.chat(thread, script(calls(("note", {"name": "x"}), say=["a", "b"]), says("c"))).frames
    replayed = replay(alice, thread, 1)
    wanted = ["messages/partial", "tool/start", "tool/end", "messages/partial", "end"]
    assert [frame.event for frame in replayed] == wanted
    assert told(replayed) == told(frames)
    assert [frame for frame in replayed if frame.event != "messages/partial"] == [
        frame for frame in frames if frame.event != "messages/partial"
    ]


def test_without_an_id_the_stream_begins_now(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    alice.chat(thread, script(says("before")))
    with following(alice, thread) as frames:
        alice.chat(thread, script(says("after")))
        assert "".join(frame.data.get("content", "") for frame in until(frames, "end")) == "after"


def test_every_event_can_be_gone_on_from(alice: ThreadsClient, thread: str) -> None:
    alice.chat(thread, script(calls(("note", {"name": "x"})), calls(("guarded", {"name": "y"}))))
    alice.resume(thread, "cancel")
    whole = replay(alice, thread, 2)
    for index, frame in enumerate(whole[:-1]):
        assert frame.id is not None
        ends = sum(later.event == "end" for later in whole[index + 1 :])
        assert replay(alice, thread, ends, frame.id) == whole[index + 1 :]


def test_missed_tokens_come_as_one_text_that_replaces_what_was_there(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    message = {"message": script(says("one ", "two ", gate("missed"), "three"))}
    with opened(alice, f"/api/chat/{thread}", message) as chat:
        assert next(chat).data["content"] == "one "
        second = next(chat)
        with following(alice, thread, second.id) as late:
            first = next(late)
            assert (first.event, first.data["content"], first.data["reset"]) == ("messages/partial", "one two ", True)
            witness.release("missed")
            rest = until(late, "end")
            assert [(frame.event, frame.data.get("content")) for frame in rest] == [
                ("messages/partial", "three"),
                ("end", None),
            ]
            assert "reset" not in rest[0].data
        until(chat, "end")
    for last in (second.id, "2", "3"):
        again = replay(alice, thread, 1, str(last))
        assert [frame.event for frame in again] == ["messages/partial", "end"]
        assert (again[0].data["content"], again[0].data["reset"]) == ("one two three", True)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_seen_over_random_disconnects_is_the_log(alice: ThreadsClient, seed: int) -> None:
    thread_id = alice.new_thread()
    turns = [calls(("note", {"name": f"n{n}"}), say=[slowly(f"turn {n} has a few words", 0.004)]) for n in range(8)]
    with opened(
        alice, f"/api/chat/{thread_id}", {"message": script(*turns)}, **{"x-on-disconnect": "continue"}
    ) as chat:
        next(chat)
    dice = random.Random(seed)
    seen: list[Frame] = []
    last, connections = "0", 0
    while not seen or seen[-1].event != "end":
        connections += 1
        with following(alice, thread_id, last) as frames:
            # So few that there are many connections, also where the run was over before the first of them.
            for frame in _some(frames, dice.randrange(4)):
                seen.append(frame)
                last = frame.id or last
    logged = replay(alice, thread_id, 1)
    assert connections > 5
    assert [event for _, event in told(seen)] == [event for _, event in told(logged)]
    # A message may be logged just after its tool has begun. Who saw it being written then has it twice, never a part.
    assert {text for text, _ in told(seen)} | {""} == {text for text, _ in told(logged)} | {""}
    numbers = [frame.id for frame in seen if frame.event != "messages/partial"]
    assert len(numbers) == len(set(numbers))


def _some(frames: Iterator[Frame], count: int) -> Iterator[Frame]:
    for _ in range(count):
        frame = next(frames)
        yield frame
        if frame.event == "end":
            return


def test_many_followers_see_the_same(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    def follow(index: int) -> list[tuple[str, str]]:
        if index == 0:
            # Everybody else is there when the agent begins to speak.
            alice.wait_for(lambda: witness.count("following"), lambda count: count == 5)
            return told(alice.chat(thread, script(calls(("note", {"name": "x"}), say=["a", "b"]), says("c"))).frames)
        with following(alice, thread) as frames:
            witness_did(witness, "following")
            return told(until(frames, "end"))

    stories = at_once(6, follow)
    assert stories[0]
    assert all(story == stories[0] for story in stories)


def witness_did(witness: Witness, name: str) -> None:
    from tests.support.witness import say

    say(f"did {name}", witness.port)


@pytest.mark.parametrize("last", ["x", "-1", "1.x", "1.2.3", "", "٣", "1" * 30])
def test_an_id_that_is_none_is_a_bad_request(alice: ThreadsClient, thread: str, last: str) -> None:
    headers = {b"last-event-id": last.encode()}
    reply = alice.http.get(f"/api/stream/{thread}", headers=headers)
    assert reply.status_code == 400


def test_an_id_from_the_future_does_not_hide_what_comes(alice: ThreadsClient, thread: str) -> None:
    with following(alice, thread, "999999") as frames:
        alice.chat(thread, script(says("hello")))
        assert [frame.event for frame in until(frames, "end")] == ["messages/partial", "end"]


def test_a_deleted_thread_ends_its_streams(alice: ThreadsClient, thread: str) -> None:
    with following(alice, thread) as frames:
        alice.http.delete(f"/api/sessions/{thread}")
        assert [frame.event for frame in frames] == ["error", "end"]


def test_who_does_not_read_disturbs_nobody(alice: ThreadsClient, bob: ThreadsClient, thread: str) -> None:
    text = "x" * 2048
    with _unread_stream(alice, thread) as slow:
        chat = alice.chat(thread, script(says(flood(2600, text))))
        assert chat.text == "".join(f"{number} {text} " for number in range(2600))
        assert bob.chat(bob.new_thread(), script(says("not disturbed"))).text == "not disturbed"
        with slow.makefile(encoding="utf-8", newline="\n") as lines:
            stream = (line.rstrip("\n") for line in lines if line.startswith(("id: ", "event: ", "data: ", "\n")))
            late = until(parse(stream), "end")
    assert any(frame.data.get("reset") for frame in late)
    assert told(late) == told(chat.frames)
    for frames in (chat.frames, late):
        assert_always_a_beginning(frames, chat.text)


def assert_always_a_beginning(frames: list[Frame], whole: str) -> None:
    """At no moment does a client have a text with a hole in it."""
    length = 0
    for frame in frames:
        if frame.event == "messages/partial":
            start = 0 if frame.data.get("reset") else length
            length = start + len(frame.data["content"])
            assert whole[start:length] == frame.data["content"]


def _unread_stream(client: ThreadsClient, thread_id: str) -> socket.socket:
    """A follower with a small buffer that has sent its request and reads nothing."""
    address = urlsplit(str(client.http.base_url))
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(30)
    connection.connect((address.hostname, address.port))
    request = (
        f"GET /api/stream/{thread_id} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: {client.http.headers['authorization']}\r\n\r\n"
    )
    connection.sendall(request.encode())
    return connection
