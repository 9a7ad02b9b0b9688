"""Hand-written graphs: `interrupt()` with any value, and the older HumanInterrupt."""

import json
from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.domain.errors import InvalidAnswer
from interlock.domain.kinds import ClarificationAnswer, ClarificationBody, RequestKind
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import line
from tests.support.bodies import shown

pytestmark = on_sqlite


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


def asking(value: Any) -> Any:
    def ask(state: Heard) -> Heard:
        return {"heard": interrupt(value)}

    return line(Heard, ask)


async def test_a_text_is_asked_as_it_is_and_the_answer_is_what_interrupt_returns(host: Host) -> None:
    stage = await host(asking("which one?"))
    turn = await stage.say("the topic")
    assert turn.status == "paused"
    assert turn.request.kind is RequestKind.CLARIFICATION
    assert shown(turn.request)["question"] == "which one?"

    turn = await stage.tell(turn.request, "that one")

    assert turn.status == "done"
    assert await stage.values() == {"topic": "the topic", "heard": "that one"}


async def test_an_object_shows_its_question_its_options_and_all_of_its_value(host: Host) -> None:
    value = {"question": "deploy?", "options": ["yes", "no"], "why": [1, 2]}
    stage = await host(asking(value))
    turn = await stage.say()
    assert shown(turn.request)["title"] == "deploy?"
    assert shown(turn.request)["options"] == ["yes", "no"]
    assert shown(turn.request)["details"] == {"why": [1, 2]}
    assert shown(turn.request)["value"] == value
    assert shown(turn.request)["question"].split("\n")[0] == "deploy?"
    assert '"why"' in shown(turn.request)["question"]

    turn = await stage.tell(turn.request, "neither")

    assert (await stage.values())["heard"] == "neither"


@pytest.mark.parametrize("value", [None, "", "  ", 0, False, [], {}, [{}], 1.5, ["a", {"b": {1, 2}}]])
async def test_a_value_that_says_nothing_can_be_answered_too(host: Host, value: Any) -> None:
    stage = await host(asking(value))
    turn = await stage.say()
    assert turn.status == "paused"
    assert shown(turn.request)["question"].strip()

    turn = await stage.tell(turn.request, "fine")

    assert turn.status == "done"
    assert (await stage.values())["heard"] == "fine"


@pytest.mark.parametrize("wrong", [{}, {"answer": ""}, {"answer": " "}, {"answer": "no"}, {"decision": "accept"}])
async def test_a_wrong_answer_leaves_the_request_open(host: Host, wrong: Any) -> None:
    stage = await host(asking("which one?"))
    turn = await stage.say()
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, wrong)

    turn = await stage.tell(turn.request, "this")

    assert (await stage.values())["heard"] == "this"


@pytest.mark.parametrize("answer", [False, None, 0, [], {}, {"b" * 32: 1}, {"text": "x", "more": 2}])
async def test_any_json_is_what_interrupt_returns(host: Host, answer: Any) -> None:
    stage = await host(asking({"question": "Approve?", "amount": 3}))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"answer": answer})

    assert turn.status == "done"
    assert (await stage.values())["heard"] == answer


async def test_an_answer_that_names_interrupts_is_still_only_an_answer(host: Host) -> None:
    """LangGraph takes a dict of ids for a map of answers."""

    def ask(state: Heard) -> Heard:
        return {"heard": [interrupt("first"), interrupt("second")]}

    stage = await host(line(Heard, ask))
    first = (await stage.say()).request
    named = {first.interrupt_id: "meant for the first", "c" * 32: 1}
    second = (await stage.reply(first, {"answer": named})).request
    assert shown(second)["question"] == "second"
    await stage.reply(second, {"answer": {second.interrupt_id: False}})
    assert (await stage.values())["heard"] == [named, {second.interrupt_id: False}]


async def test_a_free_request_of_an_older_version_has_the_same_rules(host: Host) -> None:
    """Its body does not say that it is free; its form does."""
    stage = await host(asking("Approve?"))
    request = (await stage.say()).request
    older = replace(request, body=ClarificationBody(question="Approve?", value="Approve?"))
    assert older.check({"answer": False}) == ClarificationAnswer(False)
    with pytest.raises(InvalidAnswer):
        older.check({"answer": "no"})


async def test_cancelling_a_free_question_ends_the_run_and_the_next_message_begins_anew(host: Host) -> None:
    stage = await host(asking("which one?"))
    turn = await stage.say("one")

    turn = await stage.reply(turn.request, None)
    assert turn.status == "not_answered"
    assert "heard" not in await stage.values()

    turn = await stage.say("two")
    turn = await stage.tell(turn.request, "yes")
    assert await stage.values() == {"topic": "two", "heard": "yes"}


def human(allow: str, *, description: str = "look") -> dict[str, Any]:
    names = ("accept", "edit", "respond", "ignore")
    return {
        "action_request": {"action": "delete", "args": {"path": "a"}},
        "config": {f"allow_{name}": name in allow for name in names},
        "description": description,
    }


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        ({"decision": "accept"}, {"type": "accept", "args": None}),
        (
            {"decision": "edit", "args": {"path": "z"}},
            {"type": "edit", "args": {"action": "delete", "args": {"path": "z"}}},
        ),
        ({"decision": "response", "message": "no need"}, {"type": "response", "args": "no need"}),
        ({"decision": "reject"}, {"type": "ignore", "args": None}),
        (None, {"type": "ignore", "args": None}),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
async def test_a_human_interrupt_is_an_approval(host: Host, value: Any, heard: Any, listed: bool) -> None:
    asked = human("accept edit respond ignore")
    stage = await host(asking([asked] if listed else asked))
    turn = await stage.say()
    assert turn.request.kind is RequestKind.APPROVAL
    assert shown(turn.request)["tool_name"] == "delete"
    assert shown(turn.request)["description"] == "look"

    turn = await stage.reply(turn.request, value)

    assert turn.status == "done"
    assert (await stage.values())["heard"] == ([heard] if listed else heard)


@pytest.mark.parametrize("allow", ["accept edit ignore", "respond"])
async def test_nothing_that_a_human_interrupt_hands_over_is_left_out(host: Host, allow: str) -> None:
    asked: dict[str, Any] = human(allow) | {"draft": {"to": "bob"}, "cost": 7}
    asked["action_request"] |= {"note": "irreversible"}
    asked["config"] |= {"colour": "red"}
    stage = await host(asking(asked))
    body = shown((await stage.say()).request)
    text = json.dumps([body["details"], body.get("args")])
    for word in ("draft", "bob", "cost", "7", "irreversible", "red", '"path": "a"'):
        assert word in text
    if allow == "respond":
        assert body["title"] == "look"
        assert '"path": "a"' in body["question"]


HANDED_OVER: list[tuple[Any, Any]] = [
    (
        {
            "action_requests": [{"name": "pay", "args": {}, "description": "d", "reason": "due"}],
            "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve"], "limit": 9}, {"more": 1}],
            "ticket": "T-1",
        },
        {
            "ticket": "T-1",
            "review_configs": [{"more": 1}],
            "action_request": {"reason": "due"},
            "review_config": {"limit": 9},
        },
    ),
    (
        {"type": "tool_approval", "tool_call_id": "c1", "name": "pay", "args": {}, "reason": "due"},
        {"reason": "due"},
    ),
    (
        {
            "interlock": {"kind": "questions", "body": {"questions": [{"question": "?", "options": []}]}, "odd": 2},
            "ticket": "T-1",
        },
        {"ticket": "T-1", "odd": 2},
    ),
]


@pytest.mark.parametrize(("value", "details"), HANDED_OVER)
async def test_what_a_known_form_has_beside_what_is_known_is_shown_as_details(
    host: Host, value: Any, details: Any
) -> None:
    stage = await host(asking(value))
    assert shown((await stage.say()).request)["details"] == details


async def test_a_list_of_human_interrupts_is_answered_one_by_one_and_sent_together(host: Host) -> None:
    stage = await host(asking([human("accept ignore"), human("respond"), human("edit")]))
    turn = await stage.say()
    first, second, third = turn.requests
    assert second.kind is RequestKind.CLARIFICATION
    with pytest.raises(InvalidAnswer):
        await stage.answer(first, {"decision": "edit", "args": {}})
    await stage.answer(third, {"decision": "edit", "args": {"path": "c"}})
    await stage.answer(first, {"decision": "reject"})

    turn = await stage.tell(second, "in my words")

    assert turn.status == "done"
    assert (await stage.values())["heard"] == [
        {"type": "ignore", "args": None},
        {"type": "response", "args": "in my words"},
        {"type": "edit", "args": {"action": "delete", "args": {"path": "c"}}},
    ]


@pytest.mark.parametrize("value", [{"decision": "reject"}, None])
async def test_a_human_interrupt_that_may_not_be_ignored_ends_the_run_when_it_is(host: Host, value: Any) -> None:
    stage = await host(asking(human("accept")))
    turn = await stage.say()

    turn = await stage.reply(turn.request, value)

    assert turn.status == "not_answered"
    assert "heard" not in await stage.values()
