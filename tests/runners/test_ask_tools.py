"""The tools by which a model itself asks, in LangChain's agent."""

import json
from typing import Any

import pytest

from interlock.domain.kinds import RequestKind
from interlock.langchain import ask_tools
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent
from tests.support.bodies import shown

pytestmark = on_sqlite

CASES: list[Any] = [
    (
        "ask_user",
        {"questions": [{"question": "name?"}, {"question": "size?", "options": [{"label": "S", "value": "s"}]}]},
        RequestKind.QUESTIONS,
        {"answers": ["Ann", "s"]},
        [{"question": "name?", "answer": "Ann"}, {"question": "size?", "answer": "s"}],
    ),
    ("request_clarification", {"question": "which?"}, RequestKind.CLARIFICATION, {"answer": "this"}, "this"),
    (
        "request_decision",
        {"title": "ship?", "options": [{"key": "y", "label": "Yes"}, {"key": "n", "label": "No"}], "risks": ["r"]},
        RequestKind.DECISION,
        {"decision": "n", "reason": "late"},
        {"decision": "n", "reason": "late"},
    ),
    (
        "request_env_vars",
        {"fields": [{"name": "KEY"}]},
        RequestKind.ENV_VAR,
        {"values": {"KEY": "v"}},
        {"provided": ["KEY"]},
    ),
]


@pytest.mark.parametrize(("name", "args", "kind", "value", "told"), CASES)
async def test_the_model_is_told_the_answer(
    host: Host, name: str, args: Any, kind: RequestKind, value: Any, told: Any
) -> None:
    stage = await host(agent(ask_tools, [("c1", name, args)]))
    turn = await stage.say()
    assert turn.request.kind is kind

    turn = await stage.reply(turn.request, value)

    assert turn.status == "done"
    result = (await stage.results())["c1"]
    assert (result if isinstance(told, str) else json.loads(result)) == told


@pytest.mark.parametrize("case", CASES)
async def test_the_model_is_told_when_nobody_answers(host: Host, case: Any) -> None:
    stage = await host(agent(ask_tools, [("c1", case[0], case[1])]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, None)

    assert turn.status == "done"
    assert (await stage.results())["c1"] == "Not answered: cancelled by ann"


async def test_several_asks_at_once_are_each_answered(host: Host) -> None:
    made = [(f"c{n}", "request_clarification", {"question": f"q{n}"}) for n in range(3)]
    stage = await host(agent(ask_tools, made))
    turn = await stage.say()
    asked = {shown(request)["question"]: request for request in turn.requests}
    await stage.answer(asked["q2"], {"answer": "two"})
    await stage.answer(asked["q0"], {"answer": "zero"})

    await stage.tell(asked["q1"], "one")

    assert await stage.results() == {"c0": "zero", "c1": "one", "c2": "two"}
