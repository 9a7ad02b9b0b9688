"""What `--agent` takes, and how it says what it does not."""

from pathlib import Path

import pytest

from interlock.runners.loading import AgentNotLoaded, load_agents

GRAPH = """
from typing import TypedDict
from langgraph.graph import StateGraph
class State(TypedDict):
    text: str
def node(state): return state
graph = StateGraph(State).add_node("node", node).set_entry_point("node")
compiled = graph.compile()
def function(): return graph
async def later(): return compiled
without_entry = StateGraph(State).add_node("node", node)
cannot_pause = graph.compile(checkpointer=False)
number = 42
def text(): return "text"
def failing(): raise RuntimeError("no key")
async def failing_later(): raise RuntimeError("no key")
def leaving(): raise SystemExit(3)
"""


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"agents_{abs(hash(request.node.name))}.py"
    path.write_text(GRAPH)
    return path


@pytest.mark.parametrize("attr", ["graph", "compiled", "function", "later"])
async def test_graphs_and_functions_that_return_one_are_taken(file: Path, attr: str) -> None:
    (agent,) = await load_agents([f"mine={file}:{attr}"])
    assert (agent.name, agent.input["text"]["type"]) == ("mine", "string")


@pytest.mark.parametrize(
    ("attr", "reason"),
    [
        ("nothing", "has no 'nothing'"),
        ("number", "int"),
        ("text", "str"),
        ("failing", "no key"),
        ("failing_later", "no key"),
        ("leaving", "SystemExit"),
        ("without_entry", "cannot be compiled"),
        ("cannot_pause", "checkpointer=False"),
    ],
)
async def test_anything_else_is_refused_with_the_reason(file: Path, attr: str, reason: str) -> None:
    with pytest.raises(AgentNotLoaded, match=reason) as refused:
        await load_agents([f"mine={file}:{attr}"])
    assert "'mine'" in refused.value.message


@pytest.mark.parametrize(
    ("content", "reason"), [("def broken(:", "SyntaxError"), ("import nowhere_at_all", "nowhere_at_all")]
)
async def test_a_file_that_does_not_load_is_refused_with_the_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "unloadable.py").write_text(content)
    with pytest.raises(AgentNotLoaded, match=reason):
        await load_agents([f"mine={tmp_path / 'unloadable.py'}:agent"])


@pytest.mark.parametrize("spec", ["nonsense", "=x:y", "name=", "name=module", "mine=no.such.module:agent"])
async def test_what_describes_no_agent_is_refused(spec: str) -> None:
    with pytest.raises(AgentNotLoaded):
        await load_agents([spec])


async def test_two_agents_of_one_name_are_refused(file: Path) -> None:
    with pytest.raises(AgentNotLoaded, match="'mine'"):
        await load_agents([f"mine={file}:graph", f"mine={file}:compiled"])
