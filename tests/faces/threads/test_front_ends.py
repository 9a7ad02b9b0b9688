"""Front ends that were written for this protocol before Interlock, against this server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.threads import ThreadsClient


def posted(client: ThreadsClient, path: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What such a reader sees: it looks at `data:` lines only, and parses each."""
    with client.http.stream("POST", path, json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


@pytest.fixture
def chatting(alice: ThreadsClient) -> str:
    return alice.new_thread("demo")


def test_seed_000_shows_a_form_for_questions_and_submits_the_answers(alice: ThreadsClient, chatting: str) -> None:
    form: list[dict[str, Any]] = []
    for data in posted(alice, f"/api/chat/{chatting}", {"message": "问我三个问题"}):
        if data["event"] == "interrupt" and data["questions"]:
            form = data["questions"]
    assert [question["question"] for question in form] == ["你喜欢什么颜色?", "你喜欢什么动物?", "怎么执行?"]
    for question in form:
        assert question["options"][-1] == {"label": "自定义", "value": "__custom__", "allow_custom": True}
    answers = [form[0]["options"][0]["value"], "一只企鹅", form[2]["options"][1]["value"]]
    said = list(posted(alice, f"/api/resume/{chatting}", {"action": "answer", "answers": answers}))
    assert said[-1]["event"] == "end"
    text = "".join(data["content"] for data in said if data["event"] == "messages/partial")
    assert "红色" in text
    assert "一只企鹅" in text


def test_seed_000_shows_a_dialog_for_what_has_no_questions(alice: ThreadsClient, chatting: str) -> None:
    dialogs = [
        data
        for data in posted(alice, f"/api/chat/{chatting}", {"message": "运行 npm install"})
        if data["event"] == "interrupt" and not (isinstance(data["questions"], list) and data["questions"])
    ]
    assert len(dialogs) == 1
    assert (dialogs[0]["info"], dialogs[0]["taskName"]) == ("正在执行命令: npm install", "执行命令")
    assert [option["value"] for option in dialogs[0]["options"]] == ["continue", "cancel"]
    alice.resume(chatting, dialogs[0]["options"][1]["value"])
    assert alice.status(chatting)["status"] == "idle"


def test_seed_000_unwraps_the_envelope_of_event_and_data(alice: ThreadsClient, chatting: str) -> None:
    frames = list(posted(alice, f"/api/chat/{chatting}", {"message": "问我三个问题"}))
    interrupt = next(frame["data"] for frame in frames if frame["event"] == "interrupt")
    assert (interrupt["info"], interrupt["taskName"]) == ("Agent 提出了 3 个问题", "用户问答")
    assert len(interrupt["questions"]) == 3
    frames = list(posted(alice, f"/api/resume/{chatting}", {"action": "answer", "answers": ["red", "cat"]}))
    error = next(frame["data"] for frame in frames if frame["event"] == "error")
    assert error["message"] == "answers count (2) does not match questions count (3)"
    frames = list(posted(alice, f"/api/resume/{chatting}", {"action": "answer", "answers": ["red", "", "now"]}))
    error = next(frame["data"] for frame in frames if frame["event"] == "error")
    assert error["message"] == "answer at index 1 is empty"


def test_seed_004_looks_at_the_status_and_resumes(alice: ThreadsClient, chatting: str) -> None:
    frames = list(posted(alice, f"/api/chat/{chatting}", {"message": "创建一个 hello.py 文件"}))
    interrupt = next(frame for frame in frames if frame["type"] == "interrupt")
    assert interrupt["info"] == "正在写入文件: hello.py"
    assert interrupt["data"]["action_requests"][0]["name"] == "write_file"
    status = alice.status(chatting)
    assert (status["status"], status["has_pending_tasks"]) == ("interrupted", True)
    assert status["interrupt_info"]["interrupts"] == ["正在写入文件: hello.py"]
    frames = list(posted(alice, f"/api/resume/{chatting}", {"action": "continue"}))
    assert [frame["tool"] for frame in frames if frame["type"] == "tool/end"] == ["write_file"]
    roles = [message["role"] for message in alice.history(chatting)]
    assert roles[0] == "user"
    assert roles[-1] == "assistant"
    assert alice.status(chatting)["status"] == "idle"


def test_seed_004_goes_on_talking_after_a_refusal(alice: ThreadsClient, chatting: str) -> None:
    list(posted(alice, f"/api/chat/{chatting}", {"message": "运行 rm -rf /"}))
    refused = list(posted(alice, f"/api/resume/{chatting}", {"action": "cancel"}))
    assert [frame["status"] for frame in refused if frame["type"] == "tool/end"] == ["refused"]
    assert refused[-1]["action"] == "cancel"
    again = list(posted(alice, f"/api/chat/{chatting}", {"message": "你好"}))
    assert "".join(frame.get("content", "") for frame in again)
