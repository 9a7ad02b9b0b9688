"""A gate that names no tool of the agent, or says what is not understood, closes nothing: the agent is not loaded."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from deepagents.middleware.filesystem import FilesystemPermission
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_model_call, wrap_tool_call
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph

from interlock.langchain import InterlockMiddleware
from interlock.runners.loading import AgentNotLoaded, host_agent
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, by_hand, line, script
from tests.support.bodies import shown

TOOLS = [Deeds().tool("send_mail"), Deeds().tool("delete")]
TYPO = {"send_mial": True}
RIGHT = {"send_mail": True}


def langchains(interrupt_on: Any) -> Any:
    return HumanInTheLoopMiddleware(interrupt_on)


def deep(**more: Any) -> Any:
    return cast("Any", create_deep_agent)(**{"model": script(), "tools": TOOLS, **more})


def subagent(**more: Any) -> dict[str, Any]:
    spec = {"name": "helper", "description": "helps", "system_prompt": "help", "model": script(), "tools": TOOLS}
    return {**spec, **more}


def gated_by(middleware: Any) -> Any:
    return agent(TOOLS, middleware=[middleware])


def in_a_tool(inner: Any) -> Any:
    """An agent whose tool calls another one."""

    def research(path: str) -> str:
        return str(inner.invoke({"messages": [("user", path)]}))

    return agent([StructuredTool.from_function(research, description="research")])


def in_a_subgraph(inner: Any) -> Any:
    def before(state: MessagesState) -> MessagesState:
        return state

    return line(MessagesState, before).add_node("inner", inner).add_edge("before", "inner")


HELD: dict[str, Any] = {"typo": gated_by(InterlockMiddleware(TYPO))}
"""Agents that a node or a tool takes from a collection, as a supervisor does."""


class Team:
    """Agents that an object keeps."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def work(self, state: MessagesState) -> Any:
        return self.inner.invoke(state)


TEAM = Team(HELD["typo"])


def from_a_dict(state: MessagesState) -> Any:
    return HELD["typo"].invoke(state)


def handed(inner: Any, state: MessagesState) -> Any:
    return inner.invoke(state)


def of_an_object(path: str) -> str:
    return str(TEAM.inner.invoke({"messages": [("user", path)]}))


def one_node(node: Any) -> Any:
    builder: Any = StateGraph(MessagesState)
    return builder.add_node("node", node).add_edge(START, "node").compile()


@wrap_tool_call  # pyright: ignore[reportUntypedFunctionDecorator]
def tried_again(request: Any, handler: Any) -> Any:
    """What most people wrap a call for."""
    return handler(request)


@pytest.mark.parametrize(
    "graph",
    [
        gated_by(InterlockMiddleware(TYPO)),
        gated_by(langchains(TYPO)),
        agent(TOOLS, middleware=[langchains(RIGHT), InterlockMiddleware(TYPO)]),
        agent(TOOLS, middleware=[cast("Any", tried_again), InterlockMiddleware(TYPO)]),
        gated_by(InterlockMiddleware(idempotent={"send_mial"})),
        deep(interrupt_on=TYPO),
        deep(middleware=[InterlockMiddleware(TYPO)]),
        deep(subagents=[subagent(interrupt_on=TYPO)]),
        deep(subagents=[subagent(middleware=[InterlockMiddleware(TYPO)])]),
        deep(subagents=[{"name": "x", "description": "x", "runnable": gated_by(langchains(TYPO))}]),
        in_a_tool(gated_by(InterlockMiddleware(TYPO))),
        in_a_subgraph(gated_by(InterlockMiddleware(TYPO))),
        one_node(from_a_dict),
        one_node(TEAM.work),
        one_node(partial(handed, HELD["typo"])),
        agent([StructuredTool.from_function(of_an_object, description="research")]),
    ],
    ids=lambda _: "",
)
def test_a_misspelled_tool_is_refused_with_the_nearest_name(graph: Any) -> None:
    with pytest.raises(AgentNotLoaded, match=r"'mine'.*'send_mial'.*did you mean 'send_mail'\?"):
        host_agent("mine", graph)


def test_a_name_that_is_like_no_other_is_refused_with_those_there_are() -> None:
    with pytest.raises(AgentNotLoaded, match=r"'zzz'.*delete, send_mail"):
        host_agent("mine", gated_by(InterlockMiddleware({"zzz": True})))


def test_a_gate_that_stands_in_another_graph_than_its_tool_is_refused() -> None:
    wipe = Deeds().tool("wipe")
    graph = deep(subagents=[subagent(tools=[wipe])], middleware=[InterlockMiddleware({"wipe": True})])
    with pytest.raises(AgentNotLoaded, match=r"'wipe'.*another graph"):
        host_agent("mine", graph)


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        *[(value, "True, False or a gate") for value in ("yes", 1, None, ["approve"])],
        ({"alowed_decisions": ["approve"]}, "did you mean 'allowed_decisions'"),
        ({"allowed_decisions": []}, "approve, edit"),
        ({"allowed_decisions": "approve"}, "approve, edit"),
        ({"allowed_decisions": ["aprove"]}, "approve, edit"),
        ({"risk_level": "hihg"}, "low, medium"),
        *[({"timeout": value}, "seconds") for value in (-1, 0, "5", True, float("nan"), float("inf"))],
        ({"when": "always"}, "function"),
        ({"description": 5}, "text"),
        ({"display_name": None}, "text"),
        ({"allow_remember": "no"}, "True or False"),
    ],
)
def test_a_gate_that_is_not_understood_is_refused_when_it_is_made(gate: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"interrupt_on\['send_mail'\].*{reason}"):
        InterlockMiddleware({"send_mail": gate})


@pytest.mark.parametrize("wrong", [["send_mail"], "send_mail", 5])
def test_what_is_no_mapping_of_gates_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="interrupt_on"):
        InterlockMiddleware(wrong)


class Gate(HumanInTheLoopMiddleware[Any, Any, Any]):
    """Somebody's own, with options and decisions of its own."""


class StricterGate(Gate):
    pass


@pytest.mark.parametrize("kind", [HumanInTheLoopMiddleware, Gate, StricterGate])
@pytest.mark.parametrize(
    "gate",
    [
        {"allowed_decisions": ["aprove"]},
        {"allowed_decisions": ["approve"], "wen": print},
        {"allowed_decisions": ["approve"], "descripton": "Sends a mail."},
    ],
)
def test_a_gate_of_langchain_that_is_not_understood_is_refused(gate: Any, kind: Any) -> None:
    with pytest.raises(AgentNotLoaded, match=r"did you mean '(approve|when|description)'"):
        host_agent("mine", gated_by(kind({"send_mail": gate})))


def test_what_only_a_class_of_somebodys_own_knows_is_taken_and_told(caplog: pytest.LogCaptureFixture) -> None:
    own: Any = {"allowed_decisions": ["approve", "postpone"], "whenever": print, "reviewers": ["ann"]}
    assert host_agent("mine", gated_by(StricterGate({"send_mail": own}))).name == "mine"
    assert all(f"'{name}' of LangChain's" in caplog.text for name in ("postpone", "whenever", "reviewers"))


@pytest.mark.parametrize(
    "graph",
    [
        gated_by(InterlockMiddleware({"send_mail": True, "unheard_of": False}, idempotent={"delete"})),
        gated_by(InterlockMiddleware({"send_mail": {"timeout": None, "when": bool, "allowed_decisions": {"accept"}}})),
        gated_by(langchains(RIGHT)),
        deep(interrupt_on={name: True for name in ("send_mail", "write_file", "edit_file", "execute", "task", "ls")}),
        deep(tools=[], interrupt_on={"delete": True, "send_mail": True}, subagents=[subagent()]),
        deep(interrupt_on=RIGHT, subagents=[subagent(tools=[TOOLS[1]])]),
        deep(subagents=[subagent(tools=[TOOLS[1]], interrupt_on={"delete": True})]),
        deep(permissions=[FilesystemPermission(operations=["write"], paths=["/etc/**"], mode="interrupt")]),
        in_a_tool(gated_by(InterlockMiddleware(RIGHT))),
        in_a_subgraph(gated_by(langchains(RIGHT))),
        by_hand(TOOLS),
    ],
    ids=lambda _: "",
)
def test_gates_on_tools_that_are_there_are_taken(graph: Any) -> None:
    assert host_agent("mine", graph).name == "mine"


def late(deeds: Deeds, gates: Any) -> Any:
    """An agent whose middleware brings the tool `send_mail` while it runs."""
    tool: BaseTool = deeds.tool("send_mail")

    def offer(request: Any, handler: Any) -> Any:
        return handler(request.override(tools=[*request.tools, tool]))

    async def offered(request: Any, handler: Any) -> Any:
        return await offer(request, handler)

    async def run(request: Any, handler: Any) -> Any:
        found = tool if request.tool_call["name"] == tool.name else request.tool
        return await handler(request.override(tool=found))

    late_tools: list[Any] = [cast("Any", wrap_model_call)(offered), cast("Any", wrap_tool_call)(run)]
    made = [("c1", "send_mail", {"path": "a"})]
    return agent([deeds.tool("delete")], made, AIMessage("done"), middleware=[InterlockMiddleware(gates), *late_tools])


@on_sqlite
async def test_a_gate_on_a_tool_that_comes_while_the_agent_runs_is_taken_and_asks(host: Host) -> None:
    deeds = Deeds()
    stage = await host(late(deeds, RIGHT))
    turn = await stage.say()
    assert shown(turn.request)["tool_name"] == "send_mail"
    assert deeds.done == []

    await stage.reply(turn.request, {"decision": "accept"})

    assert deeds.done == ["send_mail a"]


@on_sqlite
async def test_a_tool_that_comes_while_the_agent_runs_does_not_run_beside_a_misspelled_gate(host: Host) -> None:
    deeds = Deeds()
    stage = await host(late(deeds, TYPO))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "send_mial" in str(turn.error)
    assert deeds.done == []


@on_sqlite
async def test_a_tool_that_comes_while_the_agent_runs_and_is_said_to_need_no_gate_runs(host: Host) -> None:
    deeds = Deeds()
    stage = await host(late(deeds, {**TYPO, "send_mail": False}))

    turn = await stage.say()

    assert turn.status == "done"
    assert deeds.done == ["send_mail a"]


def made_in_a_node(make: Callable[[], Any]) -> Any:
    """A graph of which nothing tells, before it runs, that there is an agent in it."""

    def node(state: MessagesState) -> Any:
        return {"messages": make().invoke(state)["messages"][-1:]}

    return one_node(node)


def made_in_a_tool(make: Callable[[], Any]) -> Any:
    def research(path: str) -> str:
        return str(make().invoke({"messages": [("user", path)]})["messages"][-1].text)

    tool = StructuredTool.from_function(research, description="research")
    return agent([tool], [("o1", "research", {"path": "a"})], AIMessage("finished"))


def mailer(deeds: Deeds, middleware: Any) -> Any:
    tools = [deeds.tool("send_mail"), deeds.tool("delete")]
    return agent(tools, [("c1", "send_mail", {"path": "a"})], AIMessage("sent"), middleware=[middleware])


@on_sqlite
@pytest.mark.parametrize("within", [made_in_a_node, made_in_a_tool])
@pytest.mark.parametrize(
    ("middleware", "wrong", "right"),
    [
        (partial(InterlockMiddleware, TYPO), "send_mial", "send_mail"),
        (partial(langchains, TYPO), "send_mial", "send_mail"),
        (partial(cast("Any", InterlockMiddleware), {"send_mail": {"risk_levl": "high"}}), "risk_levl", "risk_level"),
        (partial(langchains, {"send_mail": {"allowed_decisions": ["approve"], "wen": print}}), "wen", "when"),
    ],
    ids=["interlock", "langchain", "option", "langchain-option"],
)
async def test_an_agent_that_is_made_while_a_run_goes_on_is_not_entered_with_a_misspelled_gate(
    host: Host, within: Any, middleware: Any, wrong: str, right: str
) -> None:
    deeds = Deeds()
    stage = await host(within(lambda: mailer(deeds, middleware())))

    turn = await stage.say()

    assert turn.status == "failed"
    assert f"'{wrong}'" in str(turn.error)
    assert f"did you mean '{right}'?" in str(turn.error)
    assert deeds.done == []


@on_sqlite
@pytest.mark.parametrize("within", [made_in_a_node, made_in_a_tool])
@pytest.mark.parametrize("middleware", [InterlockMiddleware, langchains])
async def test_an_agent_that_is_made_while_a_run_goes_on_asks_at_a_gate_that_names_its_tool(
    host: Host, within: Any, middleware: Any
) -> None:
    deeds = Deeds()
    stage = await host(within(lambda: mailer(deeds, middleware(RIGHT)).with_config(tags=["inner"])))
    turn = await stage.say()
    assert shown(turn.request)["tool_name"] == "send_mail"
    assert deeds.done == []

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert deeds.done == ["send_mail a"]


@on_sqlite
async def test_subagents_of_one_that_is_made_while_a_run_goes_on_may_share_its_gates(host: Host) -> None:
    deeds = Deeds()
    helper = subagent(tools=[deeds.tool("delete")], model=script([("c2", "delete", {"path": "b"})], AIMessage("ok")))
    to_helper = [("c1", "task", {"description": "delete b", "subagent_type": "helper"})]

    def make() -> Any:
        tools = [deeds.tool("send_mail")]
        return deep(tools=tools, model=script(to_helper, AIMessage("ok")), interrupt_on=RIGHT, subagents=[helper])

    stage = await host(made_in_a_node(make))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert deeds.done == ["delete b"]
