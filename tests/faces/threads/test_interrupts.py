"""What an interrupt shows: texts in both languages, options, and the questions of every kind."""

from typing import Any

import pytest

from tests.faces.threads.asking import COLOURS, FREE, HOW, KEY, REGION, clarification, decision, questions, variables
from tests.support.puppet import Call, calls, script
from tests.support.threads import ThreadsClient
from tests.support.wire import post

OPTIONS = {
    "zh": [{"label": "继续", "value": "continue"}, {"label": "取消", "value": "cancel"}],
    "en": [{"label": "Continue", "value": "continue"}, {"label": "Cancel", "value": "cancel"}],
}


def asked(client: ThreadsClient, *named: Call, language: str = "zh") -> dict[str, Any]:
    headers = {"accept-language": language}
    reply = post(client, "/api/chat", {"message": script(calls(*named))}, headers)
    assert reply.events.count("interrupt") == 1
    return reply.first("interrupt")


@pytest.mark.parametrize(
    ("call", "language", "info", "task_name"),
    [
        (("execute", {"command": "npm install"}), "zh", "正在执行命令: npm install", "执行命令"),
        (("execute", {"command": "npm install"}), "en", "Running a command: npm install", "Run a command"),
        (("write_file", {"path": "src/hello.py", "content": ""}), "zh", "正在写入文件: hello.py", "写入文件"),
        (("write_file", {"path": "src/hello.py", "content": ""}), "en-GB", "Writing a file: hello.py", "Write a file"),
        (("guarded", {"name": "x"}), "zh-CN", "正在执行操作: guarded", "受控操作"),
        (("guarded", {"name": "x"}), "en;q=0.9, zh;q=0.1", "Running: guarded", "受控操作"),
        (questions(COLOURS, HOW, FREE), "zh", "Agent 提出了 3 个问题", "用户问答"),
        (questions(COLOURS, HOW, FREE), "en", "The agent asks 3 question(s)", "Questions"),
        (questions(COLOURS, HOW, FREE), "fr, *;q=0.1", "Agent 提出了 3 个问题", "用户问答"),
    ],
)
def test_info_and_task_name(alice: ThreadsClient, call: Call, language: str, info: str, task_name: str) -> None:
    interrupt = asked(alice, call, language=language)
    assert (interrupt["info"], interrupt["taskName"]) == (info, task_name)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_approval_has_two_options_and_no_questions(alice: ThreadsClient, language: str) -> None:
    interrupt = asked(alice, ("guarded", {"name": "x"}), language=language)
    assert interrupt["options"] == OPTIONS[language]
    assert interrupt["questions"] is None


def test_data_of_an_approval_speaks_langchains_words(alice: ThreadsClient) -> None:
    data = asked(alice, ("execute", {"command": "ls"}))["data"]
    assert data["action_requests"] == [{"name": "execute", "args": {"command": "ls"}, "description": "Run a command."}]
    allowed = ["approve", "edit", "reject", "respond"]
    assert data["review_configs"] == [{"action_name": "execute", "allowed_decisions": allowed}]


def test_the_top_describes_the_first_of_several_requests(alice: ThreadsClient) -> None:
    interrupt = asked(alice, ("execute", {"command": "ls"}), ("guarded", {"name": "x"}))
    first, second = interrupt["requests"]
    assert interrupt["request_id"] == first["request_id"] != second["request_id"]
    assert interrupt["info"] == first["info"] == "正在执行命令: ls"
    assert second["info"] == "正在执行操作: guarded"
    assert len(interrupt["data"]["action_requests"]) == 2


def test_a_request_tells_its_kind_its_times_and_what_it_is_about(alice: ThreadsClient) -> None:
    request = asked(alice, ("guarded", {"name": "x"}))["requests"][0]
    assert request["kind"] == "approval"
    assert request["expires_at"] is None
    assert request["created_at"].endswith(("+00:00", "Z"))
    assert request["request_data"]["args"] == {"name": "x"}
    assert request["call_id"]


@pytest.mark.parametrize(
    ("call", "prefix", "kind"),
    [
        (("guarded", {"name": "x"}), "perm_", "approval"),
        (clarification("a"), "clar_", "clarification"),
        (decision(), "deci_", "decision"),
        (variables(KEY), "envv_", "env_var"),
        (questions(FREE), "ques_", "questions"),
    ],
)
def test_ids_begin_with_their_kinds_prefix(alice: ThreadsClient, call: Call, prefix: str, kind: str) -> None:
    request = asked(alice, call)["requests"][0]
    assert request["kind"] == kind
    assert request["request_id"].startswith(prefix)
    assert len(request["request_id"]) >= len(prefix) + 8
    int(request["request_id"].removeprefix(prefix), 16)


def test_questions_are_shown_as_they_were_asked(alice: ThreadsClient) -> None:
    interrupt = asked(alice, questions(COLOURS, HOW))
    assert interrupt["questions"] == interrupt["data"]["questions"] == [COLOURS, HOW]
    assert "options" not in interrupt
    assert "action_requests" not in interrupt["data"]


@pytest.mark.parametrize(("language", "label"), [("zh", "自定义"), ("en", "Custom")])
def test_a_clarification_is_one_question_and_offers_an_answer_of_ones_own(
    alice: ThreadsClient, language: str, label: str
) -> None:
    interrupt = asked(alice, clarification("dev", "prod"), language=language)
    custom = {"label": label, "value": "__custom__", "allow_custom": True}
    options = [{"label": "dev", "value": "dev"}, {"label": "prod", "value": "prod"}, custom]
    assert interrupt["questions"] == [{"question": "Which one?", "options": options}]


def test_a_clarification_that_allows_no_other_answer_offers_none(alice: ThreadsClient) -> None:
    interrupt = asked(alice, clarification("dev", "prod", allow_custom=False))
    assert [option["value"] for option in interrupt["questions"][0]["options"]] == ["dev", "prod"]


def test_a_decision_is_one_question_with_its_keys_as_values(alice: ThreadsClient) -> None:
    interrupt = asked(alice, decision())
    options = [{"label": "Go ahead", "value": "go"}, {"label": "Leave it", "value": "stop"}]
    assert interrupt["questions"] == [{"question": "Deploy?\nIt is ready.", "options": options}]


def test_variables_are_one_question_each(alice: ThreadsClient) -> None:
    first, second = asked(alice, variables(KEY, REGION))["questions"]
    assert first == {
        "question": "Key: for the service",
        "options": [],
        "name": "API_KEY",
        "required": True,
        "sensitive": True,
    }
    assert (second["name"], second["required"], second["sensitive"]) == ("REGION", False, False)


def test_an_ask_expires_and_an_approval_does_not(alice: ThreadsClient) -> None:
    assert asked(alice, questions(FREE))["requests"][0]["expires_at"] is not None
    assert asked(alice, ("guarded", {"name": "x"}))["requests"][0]["expires_at"] is None
