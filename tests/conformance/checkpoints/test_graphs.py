"""The saver under real graphs."""

import asyncio
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from sqlalchemy import func, select
from typing_extensions import TypedDict

from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.database import Database
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints
from tests.conformance.checkpoints.conftest import Leases
from tests.conformance.checkpoints.drafts import LONG, METADATA, at, draft

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}, "recursion_limit": 500}


class Talk(TypedDict, total=False):
    topic: str
    lines: Annotated[list[str], operator.add]


def inner_ask(state: Talk) -> Talk:
    return {"lines": [f"inner heard {interrupt('which one?')}"]}


async def test_a_sync_node_may_invoke_a_subgraph_that_pauses(saver: CheckpointSaver, lease_on: Leases) -> None:
    inside: Any = StateGraph(Talk)
    inner = inside.add_node("ask", inner_ask).add_edge(START, "ask").add_edge("ask", END).compile()

    def outer(state: Talk) -> Talk:
        return {"lines": inner.invoke({"topic": "x"})["lines"]}

    builder: Any = StateGraph(Talk)
    builder.add_node("outer", outer).add_edge(START, "outer").add_edge("outer", END)
    graph = builder.compile(checkpointer=saver.with_lease(await lease_on("t")))

    async with asyncio.timeout(60):
        await graph.ainvoke({"topic": "x"}, CONFIG, durability="sync")
        paused = await graph.aget_state(CONFIG)
        assert [pending.value for pending in paused.interrupts] == ["which one?"]
        result = await graph.ainvoke(Command(resume="that one"), CONFIG, durability="sync")

    assert result["lines"] == ["inner heard that one"]


async def test_every_sync_method_works_from_another_thread(saver: CheckpointSaver) -> None:
    def use() -> None:
        stored = saver.put(at("t"), draft("c1", {"lines": [LONG]}), {**METADATA, "run_id": "r"}, {"lines": "1"})
        saver.put_writes(stored, [("lines", ["more"])], "task")
        saver.copy_thread("t", "copy")
        saver.prune(["copy"])
        found = saver.get_tuple(at("copy"))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"lines": [LONG]}
        assert [each.checkpoint["id"] for each in saver.list(at("copy"))] == ["c1"]
        assert saver.get_delta_channel_history(config=stored, channels=["lines"]) == {"lines": {"writes": []}}
        saver.delete_for_runs(["r"])
        saver.delete_thread("copy")
        assert list(saver.list(None)) == []

    async with asyncio.timeout(60):
        await asyncio.to_thread(use)


async def test_a_sync_call_on_the_loop_itself_is_refused_rather_than_hanging(saver: CheckpointSaver) -> None:
    with pytest.raises(RuntimeError, match="would wait for itself"):
        saver.get_tuple(at("t"))


async def test_a_long_history_stores_every_version_of_a_channel_once(
    saver: CheckpointSaver, database: Database
) -> None:
    turns = 200

    def say(state: Talk) -> Talk:
        return {"lines": [f"line {len(state.get('lines', []))} {LONG}"]}

    def more(state: Talk) -> str:
        return "say" if len(state.get("lines", [])) < turns else END

    builder: Any = StateGraph(Talk)
    builder.add_node("say", say).add_edge(START, "say").add_conditional_edges("say", more)
    graph = builder.compile(checkpointer=saver)

    await graph.ainvoke({"topic": LONG}, CONFIG, durability="sync")

    async with database.read() as connection:
        blobs = Counter((await connection.execute(select(checkpoint_blobs.c.channel))).scalars())
        stored = (await connection.execute(select(func.count()).select_from(checkpoints))).scalar_one()
        longest = (await connection.execute(select(func.max(func.length(checkpoints.c.body))))).scalar_one()
        written = Counter((await connection.execute(select(checkpoint_writes.c.channel))).scalars())
    assert stored == turns + 2
    assert blobs["topic"] == 1
    assert blobs["lines"] <= turns + 1
    assert blobs.total() <= turns + 4
    assert written["lines"] == turns
    assert longest < 2000
    state = await graph.aget_state(CONFIG)
    assert len(state.values["lines"]) == turns


def extend(held: list[str], writes: Sequence[list[str]]) -> list[str]:
    return held + [line for write in writes for line in write]


class Delta(TypedDict):
    lines: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=7)]
    rare: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=1000)]


def delta_graph(saver: CheckpointSaver, turns: int) -> Any:
    def start(state: Delta) -> dict[str, Any]:
        return {"rare": ["once"]}

    def left(state: Delta) -> dict[str, Any]:
        return {"lines": [f"left {len(state['lines'])}"]}

    def right(state: Delta) -> dict[str, Any]:
        return {"lines": [f"right {len(state['lines'])}"]}

    def join(state: Delta) -> None: ...

    def more(state: Delta) -> list[str]:
        return ["left", "right"] if len(state["lines"]) < turns * 2 else []

    builder: Any = StateGraph(Delta)
    builder.add_node(start).add_node(left).add_node(right).add_node(join)
    builder.add_edge(START, "start").add_edge("start", "join").add_edge(["left", "right"], "join")
    builder.add_conditional_edges("join", more, ["left", "right"])
    return builder.compile(checkpointer=saver)


EXPECTED = [line for turn in range(60) for line in (f"left {turn * 2}", f"right {turn * 2}")]


async def test_a_delta_channel_is_rebuilt_as_langgraphs_own_walk_rebuilds_it(saver: CheckpointSaver) -> None:
    graph = delta_graph(saver, 60)
    await graph.ainvoke({}, CONFIG, durability="sync")

    state = await graph.aget_state(CONFIG)
    assert state.values == {"lines": EXPECTED, "rare": ["once"]}
    channels = ["lines", "rare", "unknown"]
    langgraphs: Any = BaseCheckpointSaver
    for found in [found async for found in saver.alist(at("t"), limit=4)]:
        ours = await saver.aget_delta_channel_history(config=found.config, channels=channels)
        default = await langgraphs.aget_delta_channel_history(saver, config=found.config, channels=channels)
        assert ours == default
        assert "seed" in ours["lines"]
        assert "seed" not in ours["rare"]
    assert await saver.aget_delta_channel_history(config=at("nowhere"), channels=["x"]) == {"x": {"writes": []}}


async def test_a_value_that_was_never_stored_at_its_version_is_no_seed(saver: CheckpointSaver) -> None:
    # What LangGraph puts after a delta channel was changed into a plain one: a value whose version has not moved.
    await saver.aput(at("t"), draft("c1", {"lines": ["a", LONG]}), METADATA, {"lines": "1"})
    await saver.aput_writes(at("t", "c1"), [("lines", ["b"])], "task")
    await saver.aput(at("t", "c1"), draft("c2", {"lines": ["a", LONG, "b"]}, "2"), METADATA, {})
    await saver.aput_writes(at("t", "c2"), [("lines", ["c"]), ("other", 1)], "task")
    last = await saver.aput(at("t", "c2"), draft("c3"), METADATA, {})

    history = await saver.aget_delta_channel_history(config=last, channels=["lines"])

    writes = [("task", "lines", ["b"]), ("task", "lines", ["c"])]
    assert history == {"lines": {"writes": writes, "seed": ["a", LONG]}}


async def test_pruning_keeps_the_ancestors_that_a_delta_channel_is_rebuilt_from(saver: CheckpointSaver) -> None:
    class Short(TypedDict):
        lines: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=7)]
        text: str

    def say(state: Short) -> dict[str, Any]:
        return {"lines": [f"line {len(state['lines'])}"], "text": f"{LONG} {len(state['lines'])}"}

    def more(state: Short) -> str:
        return "say" if len(state["lines"]) < 25 else END

    builder: Any = StateGraph(Short)
    builder.add_node("say", say).add_edge(START, "say").add_conditional_edges("say", more)
    graph = builder.compile(checkpointer=saver)
    await graph.ainvoke({"lines": []}, CONFIG, durability="sync")
    whole = await graph.aget_state(CONFIG)

    await saver.aprune(["t"])

    kept = [found async for found in saver.alist(at("t"))]
    assert 1 < len(kept) <= 8
    pruned = await graph.aget_state(CONFIG)
    assert pruned.values == whole.values
    assert pruned.values["lines"] == [f"line {n}" for n in range(25)]


async def test_pruning_a_plain_graph_leaves_one_checkpoint_and_only_its_blobs(
    saver: CheckpointSaver, database: Database
) -> None:
    def say(state: Talk) -> Talk:
        return {"lines": [LONG]}

    builder: Any = StateGraph(Talk)
    builder.add_node("say", say).add_edge(START, "say").add_edge("say", END)
    graph = builder.compile(checkpointer=saver)
    for _ in range(5):
        await graph.ainvoke({"topic": LONG}, CONFIG, durability="sync")
    whole = await graph.aget_state(CONFIG)

    await saver.aprune(["t"])

    assert (await graph.aget_state(CONFIG)).values == whole.values
    async with database.read() as connection:
        channels = (await connection.execute(select(checkpoint_blobs.c.channel))).scalars().all()
        left = (await connection.execute(select(checkpoints.c.id))).scalars().all()
    assert sorted(channels) == ["lines", "topic"]
    assert len(left) == 1
    with pytest.raises(ValueError, match="no pruning strategy"):
        await saver.aprune(["t"], strategy="everything")
