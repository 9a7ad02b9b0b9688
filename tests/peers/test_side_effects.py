"""Faults of other systems where a node is run again: what it did is done again, and what was finished too."""

import operator
from typing import Annotated, Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import AIMessage
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock.domain.event import ToolStarted
from tests.peers.sdk import calling, interrupts_of
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line, script
from tests.runners.stage import words_of
from tests.support.bodies import shown

pytestmark = [pytest.mark.promise("P6"), on_sqlite]


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


class Form(TypedDict, total=False):
    age: Any


async def test_an_ask_in_a_loop_takes_one_answer_for_each_round_and_repeats_no_effect(host: Host, deeds: Deeds) -> None:
    """langgraph 7780 and 6208: the node asks until the answer fits, and is run from its first line for each answer."""

    def get_age(state: Form) -> Form:
        prompt, tries = "What is your age?", 0
        while True:
            tries += 1
            interlock.effect(f"mail {tries}", lambda text=prompt: deeds.note(text))
            answer = interrupt(prompt)
            if isinstance(answer, int) and answer > 0:
                return {"age": answer}
            prompt = f"'{answer}' is not a valid age. Please enter a positive number."

    stage = await host(line(Form, get_age))
    asked: list[str] = []
    async with calling(stage) as caller:
        result = await caller.run({"age": None})
        for answer in ("thirty", -5, 30):
            [(key, question)] = interrupts_of(result).items()
            asked.append(question)
            result = await caller.resume({key: answer})

    prompts = [
        "What is your age?",
        *(f"'{wrong}' is not a valid age. Please enter a positive number." for wrong in ("thirty", -5)),
    ]
    assert (result, asked, deeds.done) == ({"age": 30}, prompts, prompts)


async def test_two_asks_of_one_tool_run_what_is_between_them_once(host: Host, deeds: Deeds) -> None:
    """langgraph 6208: a node with two interrupts runs again after the first answer, and after the second."""

    def order(item: str) -> str:
        """Order a thing."""
        if not interrupt(f"Reserve {item}?"):
            return "not reserved"
        interlock.effect("reserve", lambda: deeds.note(f"reserve {item}"))
        if not interrupt(f"Pay for {item}?"):
            return "reserved only"
        interlock.effect("pay", lambda: deeds.note(f"pay {item}"))
        return "ordered"

    stage = await host(agent([order], [("c1", "order", {"item": "tea"})]))
    turn = await stage.say()
    for question in ("Reserve tea?", "Pay for tea?"):
        assert words_of(turn.request) == question
        turn = await stage.reply(turn.request, {"answer": True})

    assert turn.status == "done", turn.error
    assert await stage.results() == {"c1": "ordered"}
    assert deeds.done == ["reserve tea", "pay tea"]


class Said(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


@pytest.mark.parametrize("with_checkpoint", [False, True])
async def test_a_subgraph_goes_on_at_the_node_that_asked(host: Host, deeds: Deeds, with_checkpoint: bool) -> None:
    """langgraph 6792, 7561 and langgraphjs 1552: it began anew, as soon as the resume named the newest checkpoint."""

    def prepare(state: Said) -> Said:
        deeds.note("prepare")
        return {"said": ["prepared"]}

    def ask(state: Said) -> Said:
        return {"said": [interrupt("hello_event")]}

    def finish(state: Said) -> Said:
        deeds.note("finish")
        return {"said": ["finished"]}

    builder: Any = line(Said)
    builder.add_node("inner", line(Said, prepare, ask, finish).compile())
    builder.add_edge("__start__", "inner").add_edge("inner", "__end__")
    stage = await host(builder)
    async with calling(stage) as caller:
        [(key, _)] = interrupts_of(await caller.run({"said": []})).items()
        # As LangGraph's Studio and its server send every resume.
        head = {"checkpoint": (await caller.state())["checkpoint"]} if with_checkpoint else {}
        result = await caller.resume({key: "demo"}, **head)

    assert deeds.done == ["prepare", "finish"]
    assert result["said"] == ["prepared", "demo", "finished"]


def helped(deeds: Deeds, lines: Any, *made: Any) -> tuple[Any, Any]:
    """deepagents with one helper, whose gate is its parent's; and the helper's model, which notes what it hears."""
    model = script(*made, AIMessage("the helper has finished"))
    spec = {"name": "helper", "description": "helps", "system_prompt": "help", "model": model}
    make = cast("Any", create_deep_agent)
    return make(
        model=script(*lines),
        tools=[deeds.tool("send")],
        interrupt_on={"rename": True},
        subagents=[spec | {"tools": [deeds.tool("look_up"), deeds.tool("rename")]}],
    ), model


HELP = ("t1", "task", {"description": "rename it", "subagent_type": "helper"})
RENAME = [("d2", "rename", {"path": "old"})]


@pytest.mark.parametrize(
    ("answer", "renamed"),
    [
        ({"decision": "accept"}, ["rename old"]),
        ({"decision": "edit", "args": {"path": "edited"}}, ["rename edited"]),
        ({"decision": "reject", "message": "keep it"}, []),
    ],
    ids=["approve", "edit", "reject"],
)
async def test_a_subagents_pause_is_answered_in_place_and_nothing_beside_it_runs_again(
    host: Host, deeds: Deeds, answer: dict[str, Any], renamed: list[str]
) -> None:
    """deepagents 554 (only an approval worked), 420 and 3008 (its siblings ran again), deepagentsjs 725 (the model had
    to come to the same call in exactly one step: here it has looked something up first)."""
    graph, model = helped(
        deeds, [[HELP, ("s1", "send", {"path": "report"})]], [("d1", "look_up", {"path": "id"})], RENAME
    )
    stage = await host(graph)
    turn = await stage.say()
    assert (shown(turn.request)["tool_name"], shown(turn.request)["args"]) == ("rename", {"path": "old"})
    heard = len(model.heard)

    turn = await stage.reply(turn.request, answer)

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == sorted(["look_up id", "send report", *renamed])
    # One word of the model more, about what came of it: it did not have to say again what it had said.
    assert len(model.heard) == heard + 1
    assert (await stage.results())["t1"] == "the helper has finished"
    started = [one.tool for one in await stage.events_of(ToolStarted)]
    assert started.count("send") == 1
