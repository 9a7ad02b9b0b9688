"""Code that would end the process ends its own run, and the server and everybody else's runs go on."""

import operator
import sys
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent, line
from tests.runners.stage import own_thread

pytestmark = on_sqlite


class Heard(TypedDict, total=False):
    topic: str
    heard: Annotated[list[str], operator.add]


def leaving(state: Heard) -> Heard:
    sys.exit(3)


async def leaving_later(state: Heard) -> Heard:
    raise SystemExit(4)


async def interrupting(state: Heard) -> Heard:
    raise KeyboardInterrupt


def staying(state: Heard) -> Heard:
    return {"heard": ["stayed"]}


@pytest.mark.parametrize("node", [leaving, leaving_later, interrupting])
async def test_a_node_that_ends_the_process_fails_its_run(host: Host, node: Any) -> None:
    stage = await host(line(Heard, node))
    turn = await stage.say()
    assert turn.status == "failed"
    assert turn.error is not None
    assert "SystemExit" in turn.error or "KeyboardInterrupt" in turn.error


@pytest.mark.parametrize("node", [leaving, leaving_later])
async def test_so_does_one_of_several_that_run_side_by_side(host: Host, node: Any) -> None:
    graph: Any = StateGraph(Heard)
    graph.add_node("node", node).add_node("staying", staying)
    for name in ("node", "staying"):
        graph.add_edge(START, name).add_edge(name, END)
    stage = await host(graph)
    turn = await stage.say()
    assert turn.status == "failed"
    assert turn.error is not None
    assert "SystemExit" in turn.error


async def test_an_ordinary_tool_that_ends_the_process_fails_its_run_and_others_go_on(host: Host) -> None:
    @tool
    async def leave(path: str) -> str:
        """Leave."""
        raise SystemExit(path)

    stage = await host(agent([leave], [("c1", "leave", {"path": "a"})]))
    turn = await stage.say()
    assert turn.status == "failed"
    assert (await stage.say("again", own_thread(2))).status == "failed"
