"""Status and history."""

import uuid

import pytest

from tests.faces.threads.asking import HOW, questions
from tests.support.puppet import calls, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.wire import opened, until
from tests.support.witness import Witness


def test_a_new_thread_is_idle_and_empty(alice: ThreadsClient, thread: str) -> None:
    assert alice.status(thread) == {
        "thread_id": thread,
        "status": "idle",
        "has_pending_tasks": False,
        "interrupt_info": None,
        "message_count": 0,
    }
    history = alice.http.get(f"/api/history/{thread}").json()
    assert history == {"thread_id": thread, "messages": []}


def test_a_paused_thread_is_interrupted_and_tells_for_what(alice: ThreadsClient, thread: str) -> None:
    asked = alice.chat(thread, script(calls(("execute", {"command": "ls"}), questions(HOW)))).first("interrupt")
    status = alice.status(thread)
    assert (status["status"], status["has_pending_tasks"], status["message_count"]) == ("interrupted", True, 2)
    info = status["interrupt_info"]
    assert info.keys() == {"task_name", "interrupts", "requests"}
    assert info["task_name"] == "tools"
    assert info["interrupts"] == ["正在执行命令: ls", "Agent 提出了 1 个问题"]
    assert [one["request_id"] for one in info["requests"]] == [one["request_id"] for one in asked["requests"]]
    assert info["requests"][1]["questions"] == [
        {**HOW, "options": [{**one, "allow_custom": None} for one in HOW["options"]]}
        | {"name": None, "required": None, "sensitive": None}
    ]


def test_interrupts_are_told_in_the_callers_language(alice: ThreadsClient, thread: str) -> None:
    alice.chat(thread, script(calls(("execute", {"command": "ls"}))))
    status = alice.http.get(f"/api/status/{thread}", headers={"accept-language": "en"}).json()
    assert status["interrupt_info"]["interrupts"] == ["Running a command: ls"]


def test_an_answered_thread_is_idle_again(alice: ThreadsClient, thread: str) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": "x"}))))
    alice.resume(thread, "continue")
    status = alice.status(thread)
    assert (status["status"], status["has_pending_tasks"], status["interrupt_info"]) == ("idle", False, None)


def test_a_running_thread_is_idle(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    with opened(alice, f"/api/chat/{thread}", {"message": script(says("one", gate("status")))}) as frames:
        until(frames, "messages/partial")
        status = alice.status(thread)
        assert (status["status"], status["has_pending_tasks"]) == ("idle", False)
        witness.release("status")
        until(frames, "end")


def test_history_holds_every_message_with_text_in_order(alice: ThreadsClient, thread: str) -> None:
    message = script(calls(("note", {"name": "a"})), calls(("note", {"name": "b"}), say=["next"]), says("all done"))
    alice.chat(thread, message)
    assert alice.history(thread) == [
        {"role": "user", "content": message},
        {"role": "tool", "content": "noted a"},
        {"role": "assistant", "content": "next"},
        {"role": "tool", "content": "noted b"},
        {"role": "assistant", "content": "all done"},
    ]
    assert alice.status(thread)["message_count"] == 6


@pytest.mark.parametrize("path", ["status", "history", "stream"])
def test_anothers_thread_and_an_unknown_one_give_the_same_refusal(bob: ThreadsClient, thread: str, path: str) -> None:
    unknown = [f"alice-{uuid.uuid4()}", f"bob-{uuid.uuid4()}", "x", "%00", "%F0%9F%A6%8A", "a%20b"]
    replies = [bob.http.get(f"/api/{path}/{thread_id}") for thread_id in (thread, *unknown)]
    assert {reply.status_code for reply in replies} == {403}
    assert len({reply.text for reply in replies}) == 1
    assert bob.resume(thread, "continue").status == 403
    assert bob.http.delete(f"/api/sessions/{thread}").status_code == 403
