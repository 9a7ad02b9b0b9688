"""Faults of other systems in what becomes of a person's yes, no or edit of a tool call."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.agents.middleware.types import hook_config
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from interlock.domain.errors import InvalidAnswer
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, by_hand, script
from tests.support.bodies import shown

pytestmark = [pytest.mark.promise("P7"), on_sqlite]

DELETE = ("c1", "delete", {"path": "a"})
SEND = ("c2", "send", {"path": "b"})
NO = {"decision": "reject", "message": "we need it"}


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def langchains(**of_gate: Any) -> Callable[[Any], Any]:
    return lambda gate: HumanInTheLoopMiddleware({"delete": gate}, **of_gate)


GATES: dict[str, Callable[[Any], Any]] = {
    "interlock": lambda gate: InterlockMiddleware({"delete": gate}),
    "batched": langchains(),
    "per call": langchains(interrupt_mode="per_call"),
}


class JumpsToTools(AgentMiddleware[Any, Any, Any]):
    """Of the documented kind that sends a message with tool calls on to the tools, once."""

    jumped = False

    @hook_config(can_jump_to=["tools"])
    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        made = any(isinstance(one, AIMessage) and one.tool_calls for one in state["messages"])
        if self.jumped or not made:
            return None
        self.jumped = True
        return {"jump_to": "tools"}


@pytest.mark.parametrize("gate", GATES)
async def test_a_rejected_call_is_not_run_by_other_middleware_that_jumps_to_the_tools(
    host: Host, deeds: Deeds, gate: str
) -> None:
    """langchain 40491 and 40492. LangChain's gate leaves the refused call in the message, for others to find."""
    middleware = [JumpsToTools(), GATES[gate](True)]
    stage = await host(agent([deeds.tool("delete"), deeds.tool("send")], [DELETE, SEND], middleware=middleware))
    turn = await stage.say()

    turn = await stage.reply(turn.request, NO)

    assert turn.status == "done", turn.error
    assert deeds.done == ["send b"]
    # The model is told once, as providers demand of the result of a call.
    told = [one for one in await stage.messages() if isinstance(one, ToolMessage) and one.tool_call_id == "c1"]
    assert ["we need it" in one.text for one in told] == [True]


async def test_a_rejected_call_is_not_run_by_the_tool_node_of_a_hand_written_graph(host: Host, deeds: Deeds) -> None:
    """langchain 37093: the middleware's decision in a node of one's own, and a plain ToolNode after it."""
    model = script([DELETE, SEND])
    gate: Any = HumanInTheLoopMiddleware({"delete": True})

    def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def review(state: MessagesState, runtime: Runtime[Any]) -> Any:
        return gate.after_model(state, runtime)

    builder: Any = StateGraph(MessagesState)
    builder.add_node("say", say).add_node("review", review)
    builder.add_node("tools", ToolNode([deeds.tool("delete"), deeds.tool("send")]))
    builder.add_edge(START, "say").add_edge("say", "review").add_edge("review", "tools").add_edge("tools", END)
    stage = await host(builder)
    turn = await stage.say()

    turn = await stage.reply(turn.request, NO)

    assert turn.status == "done", turn.error
    assert deeds.done == ["send b"]


class Flips:
    """A predicate that depends on what has changed meanwhile, such as what is left of a budget."""

    def __init__(self, *said: bool) -> None:
        self.said = list(said)

    def __call__(self, request: Any) -> bool:
        return self.said.pop(0) if self.said else False


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    ("answer", "told"), [(NO, "we need it"), ({"decision": "response", "message": "gone already"}, "gone already")]
)
async def test_a_predicate_that_says_otherwise_on_resume_runs_no_call_that_a_person_refused(
    host: Host, deeds: Deeds, gate: str, answer: dict[str, Any], told: str
) -> None:
    """LangChain's own words on `when`: "the tool runs, even if they rejected it"."""
    asks = {"allowed_decisions": ["approve", "edit", "reject", "respond"], "when": Flips(True)}
    stage = await host(agent([deeds.tool("delete")], [DELETE], middleware=[GATES[gate](asks)]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, answer)

    assert turn.status == "done", turn.error
    assert deeds.done == []
    assert told in (await stage.results())["c1"]


@pytest.mark.parametrize("gate", GATES)
async def test_a_predicate_that_says_otherwise_on_resume_does_not_run_what_was_before_an_edit(
    host: Host, deeds: Deeds, gate: str
) -> None:
    asks = {"allowed_decisions": ["approve", "edit"], "when": Flips(True)}
    stage = await host(agent([deeds.tool("delete")], [DELETE], middleware=[GATES[gate](asks)]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"path": "z"}})

    assert turn.status == "failed"
    assert deeds.done == []


async def test_a_refusal_holds_when_the_node_is_run_again_for_a_later_answer(host: Host, deeds: Deeds) -> None:
    """A hand-written ToolNode runs all calls of a message again with each answer, and so asks the predicate again."""
    gate = InterlockMiddleware({"delete": {"when": Flips(True, True)}, "send": True})
    tools = [deeds.tool("delete"), deeds.tool("send")]
    stage = await host(by_hand(tools, [DELETE, SEND], awrap_tool_call=gate.awrap_tool_call))
    turn = await stage.say()
    turn = await stage.reply(turn.request, NO)
    assert shown(turn.request)["tool_name"] == "send"

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert deeds.done == ["send b"]
    assert "we need it" in (await stage.results())["c1"]


async def test_a_refusal_is_about_the_call_and_not_about_the_next_one_with_its_id(host: Host, deeds: Deeds) -> None:
    """Models number their calls: what a person allows later runs, and so do calls that nobody has to allow."""
    gate = InterlockMiddleware({"delete": True})
    lines = [[DELETE], [DELETE], [("c1", "send", {"path": "a"})]]
    stage = await host(agent([deeds.tool("delete"), deeds.tool("send")], *lines, middleware=[gate]))
    turn = await stage.say()
    turn = await stage.reply(turn.request, NO)
    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert deeds.done == ["delete a", "send a"]


@pytest.mark.parametrize("gate", GATES)
async def test_a_model_that_makes_its_original_call_again_after_an_edit_is_asked_about_it(
    host: Host, deeds: Deeds, gate: str
) -> None:
    """langchain 33787 and 32988: the model finds the user's wish unfulfilled, since another call ran than its own."""
    again = ("c2", "delete", {"path": "a"})
    stage = await host(agent([deeds.tool("delete")], [DELETE], [again], middleware=[GATES[gate](True)]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"path": "z"}})

    assert turn.status == "paused"
    assert shown(turn.request)["args"] == {"path": "a"}
    assert deeds.done == ["delete z"]
    # It was told that this is no mistake.
    told = (await stage.results())["c1"]
    assert "replaced this tool call" in told or "A person changed the arguments" in told


@pytest.mark.parametrize("gate", ["batched"])
async def test_decisions_belong_to_calls_and_not_to_places_in_a_list(host: Host, deeds: Deeds, gate: str) -> None:
    """auxilia 93: "Number of human decisions (2) does not match number of hanging tool calls (1)"."""
    calls = [("c0", "send", {"path": "free"}), DELETE, ("c2", "send", {"path": "too"})]
    stage = await host(agent([deeds.tool("delete"), deeds.tool("send")], calls, middleware=[GATES[gate](True)]))
    turn = await stage.say()
    # Only what hangs is asked about, so that there is no other call to decide.
    assert [request.call_id for request in turn.requests] == ["c1"]
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, {"decisions": [{"type": "approve"}, {"type": "approve"}]})

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == ["delete a", "send free", "send too"]


@pytest.mark.parametrize("gate", GATES)
async def test_an_approved_call_gives_the_agent_its_result_and_not_the_approval(
    host: Host, deeds: Deeds, gate: str
) -> None:
    """n8n 34645 and assistant-ui 5901: "Approve" was taken, the tool did not run, the agent read `approved: true`."""
    stage = await host(agent([deeds.tool("delete")], [DELETE], middleware=[GATES[gate](True)]))
    turn = await stage.say()
    await stage.reply(turn.request, {"decision": "accept"})

    assert await stage.results() == {"c1": "delete a: ok"}
    assert deeds.done == ["delete a"]
