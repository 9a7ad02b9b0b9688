"""The six events on the wire: lines, ids, fields and order."""

import json
import re
from typing import Any

from tests.support.inbox import answer
from tests.support.puppet import calls, fails, says, script
from tests.support.threads import ThreadsClient
from tests.support.wire import raw_lines

NAMES = {"messages/partial", "tool/start", "tool/end", "interrupt", "error", "end"}


def test_a_frame_is_an_id_a_name_and_one_line_of_json(alice: ThreadsClient, thread: str) -> None:
    lines = raw_lines(alice, f"/api/chat/{thread}", {"message": script(says("a\nb\u2028c"))})
    assert lines[-2:] == ["", ""]
    for at in range(0, len(lines) - 2, 4):
        assert re.fullmatch(r"id: \d+(\.\d+)?", lines[at])
        assert lines[at + 1].startswith("event: ")
        assert lines[at + 2].startswith("data: {")
        assert lines[at + 3] == ""
        data = json.loads(lines[at + 2].removeprefix("data: "))
        assert data["event"] == data["type"] == lines[at + 1].removeprefix("event: ")
    assert json.loads(lines[2].removeprefix("data: "))["content"] == "a\nb\u2028c"
    assert "\u2028" not in "".join(lines)


def test_chinese_is_sent_as_it_is(alice: ThreadsClient, thread: str) -> None:
    lines = raw_lines(alice, f"/api/chat/{thread}", {"message": script(says("你好"))})
    assert '"content": "你好"' in lines[2]


def test_ids_grow_and_tokens_count_within_the_event_before_them(alice: ThreadsClient, thread: str) -> None:
    reply = alice.chat(thread, script(calls(("note", {"name": "x"}), say=["a", "b"]), says("c", "d")))
    ids = [frame.id for frame in reply.frames]
    assert None not in ids
    pairs = [tuple(int(part) for part in f"{one}.0".split(".")[:2]) for one in ids]
    assert pairs == sorted(set(pairs))
    tokens = [one for one, frame in zip(pairs, reply.frames, strict=True) if frame.event == "messages/partial"]
    assert [part for _, part in tokens] == [1, 2, 1, 2]
    assert all(part == 0 for one in pairs if one not in tokens for part in one[1:])


def test_every_frame_repeats_its_name_and_thread_at_the_top(alice: ThreadsClient, thread: str) -> None:
    frames = alice.chat(thread, script(calls(("note", {"name": "x"})), calls(("guarded", {"name": "y"})))).frames
    frames += alice.resume(thread, "cancel").frames
    frames += alice.chat(thread, script(fails("boom"))).frames
    assert {frame.event for frame in frames} == NAMES
    for frame in frames:
        assert frame.data["event"] == frame.data["type"] == frame.event
        assert frame.data["thread_id"] == thread


def _own(data: dict[str, Any]) -> set[str]:
    return data.keys() - {"event", "type", "thread_id"}


def test_the_fields_of_each_event(alice: ThreadsClient, thread: str) -> None:
    reply = alice.chat(thread, script(calls(("note", {"name": "x"}), say=["text"]), calls(("guarded", {"name": "y"}))))
    assert _own(reply.first("messages/partial")) == {"content"}
    start, end = reply.first("tool/start"), reply.first("tool/end")
    assert (start["tool"], start["input"]) == ("note", {"name": "x"})
    assert _own(start) == {"tool", "input", "call_id"}
    assert (end["tool"], end["output"], end["status"]) == ("note", "noted x", "success")
    assert _own(end) == {"tool", "output", "status", "call_id"}
    assert start["call_id"] == end["call_id"]
    assert {"info", "taskName", "questions", "options", "requests", "data"} <= _own(reply.first("interrupt"))
    assert _own(reply.first("end")) == set()


def test_an_interrupt_repeats_its_fields_inside_data(alice: ThreadsClient, thread: str) -> None:
    interrupt = alice.chat(thread, script(calls(("guarded", {"name": "y"})))).first("interrupt")
    inner = interrupt["data"]
    for name in ("info", "taskName", "questions", "options", "requests", "request_id"):
        assert inner[name] == interrupt[name]


def test_an_error_repeats_its_message_inside_data(alice: ThreadsClient, thread: str) -> None:
    reply = alice.chat(thread, script(fails("boom")))
    assert reply.events == ["error", "end"]
    error = reply.first("error")
    assert "boom" in error["message"]
    assert error["data"] == {"message": error["message"]}


def test_a_tool_starts_only_after_its_approval(alice: ThreadsClient, thread: str) -> None:
    asked = alice.chat(thread, script(calls(("guarded", {"name": "z"}), say=["may I?"])))
    assert asked.events == ["messages/partial", "interrupt", "end"]
    resumed = alice.resume(thread, "continue")
    assert resumed.events == ["tool/start", "tool/end", "messages/partial", "end"]
    assert resumed.first("tool/start")["input"] == {"name": "z"}


def test_a_tool_ends_as_success_failed_or_refused(alice: ThreadsClient, thread: str) -> None:
    free = alice.chat(thread, script(calls(("note", {"name": "a"}), ("broken", {"name": "b"}))))
    ends = {frame.data["tool"]: frame.data for frame in free.frames if frame.event == "tool/end"}
    assert ends["note"]["status"] == "success"
    assert (ends["broken"]["status"], ends["broken"]["output"]) == ("failed", "broken b")
    alice.chat(thread, script(calls(("guarded", {"name": "c"}))))
    refused = alice.resume(thread, "cancel")
    assert "tool/start" not in refused.events
    end = refused.first("tool/end")
    assert (end["tool"], end["status"], end["output"]) == ("guarded", "refused", "用户拒绝了该操作")


def test_of_a_call_that_never_ran_the_end_says_why(alice: ThreadsClient, thread: str) -> None:
    ran = alice.chat(thread, script(calls(("note", {"name": "ran"})))).first("tool/end")
    assert "outcome" not in ran
    assert _ended(alice, {"decision": "response", "message": "use the other"}) == ("success", "replied")
    assert _ended(alice, {"decision": "reject", "message": "no"}) == ("refused", "refused")


def _ended(alice: ThreadsClient, value: dict[str, Any]) -> tuple[str, str]:
    """How the end of a call is told that was answered like that."""
    thread_id = alice.new_thread("puppet")
    alice.chat(thread_id, script(calls(("guarded", {"name": "answered"}))))
    (request,) = alice.status(thread_id)["interrupt_info"]["requests"]
    answer(alice, request["request_id"], value).raise_for_status()
    with alice.stream(thread_id, "0") as frames:
        end = next(frame.data for frame in frames if frame.event == "tool/end")
    return end["status"], end["outcome"]


def test_end_is_the_last_frame_whatever_happened(alice: ThreadsClient, thread: str) -> None:
    endings = [
        alice.chat(thread, script(says("fine"))),
        alice.chat(thread, script(fails("boom"))),
        alice.chat(thread, script(calls(("guarded", {"name": "d"})))),
        alice.resume(thread, "answer", answers=["no"]),
        alice.resume(thread, "continue"),
    ]
    for reply in endings:
        assert reply.events[-1] == "end"
        assert reply.events.count("end") == 1
    assert [reply.frames[-1].data.get("action") for reply in endings] == [None, None, None, "error", "continue"]


def test_parallel_calls_are_told_apart_by_their_ids(alice: ThreadsClient, thread: str) -> None:
    reply = alice.chat(thread, script(calls(("note", {"name": "1"}), ("note", {"name": "2"}))))
    started = {f.data["call_id"]: f.data["input"]["name"] for f in reply.frames if f.event == "tool/start"}
    ended = {f.data["call_id"]: f.data["output"] for f in reply.frames if f.event == "tool/end"}
    assert sorted(started.values()) == ["1", "2"]
    assert ended == {call_id: f"noted {name}" for call_id, name in started.items()}
