"""Models that use a tool call's id again: each call is an effect of its own, asked about and run on its own."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode

from interlock import ask
from interlock.domain.effect import EffectKey, EffectState, unique_call_id
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import by_hand, calls, line
from tests.runners.stage import Stage
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6", "P7", "P8")

TIMES = 3


class Crediting:
    """A whole agent in one node, whose model calls every call `call_0`."""

    def __init__(self, *, stops: int = 0, asks: bool = False, **of_node: Any) -> None:
        self.deeds, self.gate = Deeds(), Gate()

        @tool
        async def add_credit(amount: int) -> str:
            """Add credit."""
            if asks and ask.clarification("Add it?", timeout=None) != "yes":
                return "not added"
            self.deeds.note(f"added {amount}")
            if len(self.deeds.done) == stops:
                await self.gate.stop()
            return f"added {amount}"

        self.tool, self.tools = add_credit, ToolNode([add_credit], **of_node)

    async def node(self, state: MessagesState) -> dict[str, Any]:
        messages: list[Any] = list(state["messages"])
        for _ in range(TIMES):
            messages.append(calls(("call_0", "add_credit", {"amount": 5})))
            messages += (await self.tools.ainvoke({"messages": messages}))["messages"]
        return {"messages": messages[len(state["messages"]) :]}

    @property
    def graph(self) -> Any:
        return line(MessagesState, self.node)


async def results(stage: Stage) -> list[tuple[str, str]]:
    found = await stage.messages()
    return [(one.tool_call_id, one.text) for one in found if isinstance(one, ToolMessage)]


async def test_an_id_that_each_message_uses_again_is_another_call_each_time(host: Host) -> None:
    crediting = Crediting()
    stage = await host(crediting.graph)

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert crediting.deeds.done == ["added 5"] * TIMES
    assert await results(stage) == [("call_0", "added 5")] * TIMES
    assert [one.key.call_id for one in await stage.effects()] == ["call_0", "call_0 #2", "call_0 #3"]


@pytest.mark.parametrize(("word", "runs"), [("skip", 3), ("retry", 4)])
async def test_of_calls_with_one_id_only_the_one_that_was_cut_short_is_in_doubt(
    host: Host, word: str, runs: int
) -> None:
    crediting = Crediting(stops=2)
    stage = await host(crediting.graph, started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await crediting.gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"
    assert turn.request.call_id == "call_0"
    (doubtful,) = await stage.effects(EffectState.IN_DOUBT)
    assert doubtful.key.call_id == "call_0 #2"

    turn = await stage.reply(turn.request, {"decision": word})

    assert turn.status == "done", turn.error
    assert len(crediting.deeds.done) == runs
    given = await results(stage)
    assert [call_id for call_id, _ in given] == ["call_0"] * TIMES
    assert [text == "added 5" for _, text in given] == [True, word == "retry", True]


@on_sqlite
async def test_each_call_with_the_same_id_asks_for_itself(host: Host) -> None:
    crediting = Crediting(asks=True)
    stage = await host(crediting.graph)
    turn = await stage.say()
    for word in ("yes", "no", "yes"):
        assert turn.status == "paused", turn.error
        turn = await stage.tell(turn.request, word)

    assert turn.status == "done", turn.error
    assert [text for _, text in await results(stage)] == ["added 5", "not added", "added 5"]
    assert crediting.deeds.done == ["added 5"] * 2


@on_sqlite
async def test_an_approval_is_for_one_call_of_those_with_the_same_id(host: Host) -> None:
    gates = InterlockMiddleware(interrupt_on={"add_credit": True})
    crediting = Crediting(awrap_tool_call=gates.awrap_tool_call)
    stage = await host(crediting.graph)
    turn = await stage.say()
    for answer in ({"decision": "accept"}, {"decision": "edit", "args": {"amount": 7}}, {"decision": "reject"}):
        assert turn.status == "paused", turn.error
        turn = await stage.reply(turn.request, answer)

    assert turn.status == "done", turn.error
    assert crediting.deeds.done == ["added 5", "added 7"]


@on_sqlite
@pytest.mark.parametrize("call_id", ["", "call_0"])
@pytest.mark.parametrize("amounts", [(5, 5), (5, 7)])
async def test_two_calls_of_one_message_with_the_same_id_both_run(
    host: Host, call_id: str, amounts: tuple[int, int]
) -> None:
    crediting = Crediting()
    made = [(call_id, "add_credit", {"amount": amount}) for amount in amounts]
    stage = await host(by_hand([crediting.tool], AIMessage("", tool_calls=calls(*made).tool_calls)))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert sorted(crediting.deeds.done) == sorted(f"added {amount}" for amount in amounts)
    assert await results(stage) == [(call_id, f"added {amount}") for amount in amounts]


def test_numbered_ids_are_never_taken_for_those_of_a_model() -> None:
    ids = ["", "a", "a #1", "a #2", "a #2.2", "a #2 #1"]
    made = [(one, time, rank) for one in ids for time in (1, 2, 3) for rank in (0, 1)]

    keys = [EffectKey("thread", "task", unique_call_id(*one)) for one in made]

    assert len(set(keys)) == len(made)
    assert [key.tool_call_id for key in keys] == [one for one, _, _ in made]
