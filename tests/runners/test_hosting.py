"""What may be hosted, and what is said about what may not."""

import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.runners.hosting import HostedAgents
from interlock.runners.loading import AgentNotLoaded, load_agent, load_agents
from interlock.services.threads import threads
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import line
from tests.runners.stage import ANN, THREAD
from tests.support.bodies import shown

SOURCE = """
from neighbour import QUESTION
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str
    heard: list[str]


def ask(state: State) -> State:
    return {"heard": [interrupt(QUESTION)]}


builder = StateGraph(State)
builder.add_node("ask", ask)
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
graph = builder.compile()


def function():
    return builder


async def coroutine():
    return graph


def failing():
    raise RuntimeError("no model here")


nothing = 7
unable = builder.compile(checkpointer=False)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "neighbour.py").write_text("QUESTION = 'which one?'\n")
    path = tmp_path / "hosted_by_test.py"
    path.write_text(SOURCE)
    monkeypatch.setattr("sys.path", list(sys.path))
    return path


@on_sqlite
@pytest.mark.parametrize("attr", ["graph", "builder", "function", "coroutine"])
async def test_a_file_may_name_a_graph_or_what_makes_one(host: Host, file: Path, attr: str) -> None:
    agent = await load_agent("mine", f"{file}:{attr}")
    stage = await host(agent.graph)
    turn = await stage.say("hello")
    assert shown(turn.request)["question"] == "which one?"

    turn = await stage.tell(turn.request, "this")

    assert turn.status == "done"
    assert await stage.values() == {"text": "hello", "heard": ["this"]}


async def test_a_module_may_be_named_too(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [str(file.parent), *sys.path])
    (agent,) = await load_agents(["mine=hosted_by_test:graph"])
    assert agent.name == "mine"
    assert agent.tool_nodes == frozenset()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("mine", "NAME="),
        ("=x:y", "NAME="),
        ("mine={file}:missing", "no 'missing'"),
        ("mine={file}:failing", "RuntimeError: no model here"),
        ("mine={file}:nothing", "is a int"),
        ("mine={file}:unable", "cannot pause"),
        ("mine=/nowhere/file.py:graph", "no file"),
        ("mine=nowhere_at_all:graph", "ModuleNotFoundError"),
    ],
)
async def test_what_cannot_be_loaded_stops_with_the_reason(file: Path, spec: str, reason: str) -> None:
    with pytest.raises(AgentNotLoaded, match=reason):
        await load_agents([spec.format(file=file)])


async def test_two_agents_may_not_have_one_name(file: Path) -> None:
    with pytest.raises(AgentNotLoaded, match="two agents"):
        await load_agents([f"mine={file}:graph", f"mine={file}:builder"])


class Two(TypedDict, total=False):
    topic: str
    audience: str


class Model(BaseModel):
    topic: str
    count: int = 0


def keep(state: Any) -> dict[str, Any]:
    return {}


@on_sqlite
async def test_a_state_without_messages_takes_a_json_object(host: Host) -> None:
    stage = await host(line(Two, keep))
    turn = await stage.say('{"topic": "x", "audience": "y"}')
    assert turn.status == "done"
    assert await stage.values() == {"topic": "x", "audience": "y"}
    told = [(message.role, message.content) for message in await threads.history(stage.core, ANN, THREAD)]
    assert told == [
        ("user", '{"topic": "x", "audience": "y"}'),
        ("assistant", '{\n  "topic": "x",\n  "audience": "y"\n}'),
    ]


@on_sqlite
async def test_a_text_that_fits_no_field_fails_with_what_would(host: Host) -> None:
    stage = await host(line(Two, keep))
    turn = await stage.say("just text")
    assert turn.status == "failed"
    assert turn.error is not None
    assert "topic, audience" in turn.error

    turn = await stage.say('{"topic": "x"}')
    assert turn.status == "done"


@on_sqlite
async def test_a_state_that_is_a_model_takes_the_text_for_its_one_text_field(host: Host) -> None:
    stage = await host(line(Model, keep))
    turn = await stage.say("hello")
    assert turn.status == "done"
    assert await stage.values() == {"topic": "hello"}


@on_sqlite
async def test_a_graph_with_a_saver_of_its_own_is_kept_in_the_servers_store(host: Host) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", interrupt("?"))]}

    own = InMemorySaver()
    stage = await host(line(MessagesState, ask).compile(checkpointer=own))
    turn = await stage.say("hi")
    turn = await stage.tell(turn.request, "heard")
    assert turn.status == "done"
    assert list(own.list(None)) == []
    told = [(message.role, message.content) for message in await threads.history(stage.core, ANN, THREAD)]
    assert told == [("user", "hi"), ("assistant", "heard")]


@on_sqlite
async def test_a_thread_whose_agent_is_gone_fails_with_the_reason(host: Host) -> None:
    stage = await host(line(MessagesState, keep), started=False)
    started = await stage.send()
    stage.agents = HostedAgents([], stage.saver)
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "failed"
    assert turn.error is not None
    assert "no longer hosted" in turn.error
