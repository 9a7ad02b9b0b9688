"""Types of the graph's own, under LangGraph's strict reading of checkpoints, which a server turns on."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

import interlock
from interlock import ask
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import line, script

pytestmark = on_sqlite


class Plan(BaseModel):
    steps: list[str]


@dataclass
class Owner:
    name: str


class Mood(Enum):
    GOOD = "good"


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    plan: Plan
    owner: Owner
    mood: Mood


async def test_a_state_of_own_types_survives_a_pause(host: Host) -> None:
    def make(state: State) -> State:
        return {"plan": Plan(steps=["a"]), "owner": Owner("ann"), "mood": Mood.GOOD}

    def check(state: State) -> dict[str, Any]:
        answer: str = interrupt("fine?")
        assert isinstance(state.get("plan"), Plan)
        assert isinstance(state.get("owner"), Owner)
        assert state.get("mood") is Mood.GOOD
        return {"messages": [("ai", answer)]}

    stage = await host(line(State, make, check))
    turn = await stage.say()
    await stage.close()
    await stage.start("another")

    turn = await stage.tell(turn.request, "yes")

    assert turn.status == "done", turn.error


async def test_a_recorded_command_with_own_types_comes_back_whole(host: Host) -> None:
    deeds = Deeds()

    @tool
    def plan(topic: str) -> Any:
        """Plan."""
        deeds.note("plan")
        made = {"plan": Plan(steps=[topic]), "messages": [ToolMessage("planned", tool_call_id="c1")]}
        return Command(update=made)

    @tool
    def wait(topic: str) -> str:
        """Ask."""
        return ask.clarification("which?")

    model = script([("c1", "plan", {"topic": "x"}), ("c2", "wait", {"topic": "y"})])

    def say(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state.get("messages", []))]}

    def check(state: State) -> dict[str, Any]:
        assert state.get("plan") == Plan(steps=["x"])
        return {}

    tools: Any = ToolNode([plan, wait])
    builder: Any = line(State, say, check)
    builder.edges.clear()
    builder.add_node("tools", tools).add_edge("__start__", "say").add_edge("say", "tools")
    builder.add_edge("tools", "check").add_edge("check", "__end__")
    stage = await host(builder)
    turn = await stage.say()

    turn = await stage.tell(turn.request, "this")

    assert turn.status == "done", turn.error
    assert deeds.done == ["plan"]
    assert (await stage.results()) == {"c1": "planned", "c2": "this"}


async def test_an_effect_may_give_an_own_type_of_the_state(host: Host) -> None:
    async def make() -> Plan:
        return Plan(steps=["paid"])

    async def node(state: State) -> State:
        plan: Plan = await interlock.effect("plan", make)
        interrupt("fine?")
        assert isinstance(plan, Plan)
        return {"plan": plan}

    stage = await host(line(State, node))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "yes")

    assert turn.status == "done", turn.error
    assert (await stage.values())["plan"] == Plan(steps=["paid"])
