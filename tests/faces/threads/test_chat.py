"""Chat: which thread a message goes to, and when it is not taken."""

import uuid

import pytest

from tests.support.puppet import calls, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.wire import opened, post, until
from tests.support.witness import Witness

HI = script(says("hi"))
UNUSED = uuid.UUID("5f0c9a34-8d5e-4d0c-9d35-0a5b7a1f7c11")


def test_a_reply_is_streamed_and_the_thread_is_named_in_header_and_frames(alice: ThreadsClient, thread: str) -> None:
    reply = alice.chat(thread, script(says("he", "llo")))
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["x-thread-id"] == thread
    assert reply.text == "hello"
    assert reply.events == ["messages/partial", "messages/partial", "end"]
    assert {frame.data["thread_id"] for frame in reply.frames} == {thread}


def test_chat_without_a_thread_makes_one(alice: ThreadsClient) -> None:
    reply = post(alice, "/api/chat", {"message": HI})
    thread_id = reply.headers["x-thread-id"]
    assert thread_id.startswith("alice-")
    assert alice.history(thread_id) == [{"role": "user", "content": HI}, {"role": "assistant", "content": "hi"}]


def test_chat_names_its_thread_in_the_body(alice: ThreadsClient, thread: str) -> None:
    reply = post(alice, "/api/chat", {"message": HI, "thread_id": thread})
    assert reply.headers["x-thread-id"] == thread
    assert len(alice.history(thread)) == 2


def test_chat_without_a_thread_can_name_the_agent_of_the_new_one(alice: ThreadsClient) -> None:
    reply = post(alice, "/api/chat", {"message": "你好", "agent": "demo"})
    assert reply.status == 200
    assert reply.text


@pytest.mark.parametrize("path", ["/api/chat/{id}", "/api/chat"])
def test_an_unused_id_of_ones_own_name_and_a_uuid_makes_the_thread(alice: ThreadsClient, path: str) -> None:
    chosen = f"alice-{uuid.uuid4()}"
    reply = post(alice, path.format(id=chosen), {"message": HI, "thread_id": chosen})
    assert reply.status == 200
    assert reply.headers["x-thread-id"] == chosen
    assert alice.status(chosen)["message_count"] == 2


@pytest.mark.parametrize(
    "chosen",
    [
        "alice-not-a-uuid",
        "alice",
        "alice-",
        f"bob-{UNUSED}",
        f"alice-x-{UNUSED}",
        f"Alice-{UNUSED}",
        f"alice-{UNUSED}".upper(),
        f"alice-{UNUSED.hex}",
        f"alice-{{{UNUSED}}}",
        f"alice-{UNUSED} ",
        "%00",
        "a%00b",
    ],
)
def test_any_other_unused_id_is_forbidden(alice: ThreadsClient, chosen: str) -> None:
    assert post(alice, f"/api/chat/{chosen}", {"message": HI}).status == 403


def test_anothers_thread_and_an_unknown_one_are_told_apart_by_nobody(
    alice: ThreadsClient, bob: ThreadsClient, thread: str
) -> None:
    theirs = post(bob, f"/api/chat/{thread}", {"message": HI})
    unknown = post(bob, f"/api/chat/alice-{uuid.uuid4()}", {"message": HI})
    assert theirs.status == unknown.status == 403
    assert theirs.body == unknown.body
    assert alice.history(thread) == []


@pytest.mark.parametrize("message", ["", 1, None, False, ["text"]])
def test_a_message_that_is_no_text_is_unprocessable(alice: ThreadsClient, thread: str, message: object) -> None:
    assert alice.http.post(f"/api/chat/{thread}", json={"message": message}).status_code == 422


def test_a_blank_message_is_refused(alice: ThreadsClient, thread: str) -> None:
    assert alice.chat(thread, " \n\t").status == 400


def test_a_nul_in_a_message_does_no_harm(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread("demo")
    reply = alice.chat(thread_id, "hello \0 there")
    assert reply.events[-1] == "end"
    assert "error" not in reply.events
    assert [message["role"] for message in alice.history(thread_id)] == ["user", "assistant"]


def test_half_a_surrogate_pair_is_no_text(alice: ThreadsClient, thread: str) -> None:
    headers = {"content-type": "application/json"}
    reply = alice.http.post(f"/api/chat/{thread}", content=b'{"message": "\\ud800"}', headers=headers)
    assert reply.status_code == 422


def test_unknown_fields_are_ignored(alice: ThreadsClient, thread: str) -> None:
    assert post(alice, f"/api/chat/{thread}", {"message": HI, "model": "gpt", "stream": True}).text == "hi"


def test_a_message_on_a_paused_thread_is_refused_with_what_is_pending(alice: ThreadsClient, thread: str) -> None:
    asked = alice.chat(thread, script(calls(("execute", {"command": "npm install"}))))
    refused = alice.chat(thread, HI)
    assert refused.status == 409
    assert refused.body["status"] == "interrupted"
    assert refused.body["detail"] == "对话正在等待回答"
    pending = refused.body["pending"]
    assert [one["request_id"] for one in pending] == [asked.first("interrupt")["request_id"]]
    assert pending[0]["info"] == "正在执行命令: npm install"
    assert alice.status(thread)["status"] == "interrupted"


def test_a_message_on_a_running_thread_is_refused(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    message = {"message": script(says("one", gate("busy"), "two"))}
    with opened(alice, f"/api/chat/{thread}", message) as frames:
        until(frames, "messages/partial")
        refused = alice.chat(thread, HI)
        assert (refused.status, refused.body["status"], refused.body["pending"]) == (409, "running", [])
        witness.release("busy")
        assert [frame.event for frame in until(frames, "end")] == ["messages/partial", "end"]


def test_a_conversation_goes_on_with_what_was_said_before(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread("demo")
    alice.chat(thread_id, "create notes.txt with content: milk")
    alice.resume(thread_id, "continue")
    shown = alice.chat(thread_id, "show it")
    assert shown.first("tool/start")["input"] == {"path": "notes.txt"}
    assert "milk" in shown.text
