"""The latest checkpoint is the one that was stored last, whatever the clocks and the ids say."""

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import id as langgraph_ids
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from sqlalchemy import select

from interlock.storage.checkpoints import PAGE, CheckpointSaver
from interlock.storage.database import Database
from interlock.storage.schema import checkpoints
from tests.conformance.checkpoints.conftest import Leases
from tests.conformance.checkpoints.drafts import METADATA, at, draft


async def listed(saver: CheckpointSaver, config: RunnableConfig | None, **wanted: Any) -> list[str]:
    return [found.checkpoint["id"] async for found in saver.alist(config, **wanted)]


async def put_falling(saver: CheckpointSaver, count: int = 4, thread_id: str = "t") -> list[str]:
    """Checkpoints whose ids fall, as a clock that steps back makes them; the first one stored comes first."""
    ids = [f"{count - n:06}" for n in range(count)]
    parent: str | None = None
    for step, checkpoint_id in enumerate(ids):
        await saver.aput(at(thread_id, parent), draft(checkpoint_id), {**METADATA, "step": step}, {})
        parent = checkpoint_id
    return ids


async def test_the_latest_is_the_one_stored_last_though_its_id_is_the_lowest(saver: CheckpointSaver) -> None:
    ids = await put_falling(saver)

    found = await saver.aget_tuple(at("t"))

    assert found is not None
    assert found.checkpoint["id"] == ids[-1] == min(ids)


async def test_a_list_goes_back_from_the_one_stored_last(saver: CheckpointSaver) -> None:
    ids = await put_falling(saver)

    assert await listed(saver, at("t")) == ids[::-1]
    assert await listed(saver, at("t"), limit=2) == ids[:1:-1]
    assert await listed(saver, at("t"), limit=0) == []


async def test_before_means_stored_before(saver: CheckpointSaver) -> None:
    ids = await put_falling(saver)

    assert await listed(saver, at("t"), before=at("t", ids[2])) == [ids[1], ids[0]]
    assert await listed(saver, at("t"), before={"configurable": {"checkpoint_id": ids[2]}}, limit=1) == [ids[1]]
    assert await listed(saver, at("t"), before=at("t")) == ids[::-1]
    assert await listed(saver, at("t"), before=at("t", "unknown")) == []


async def test_a_list_longer_than_a_page_is_whole_and_its_limit_holds(saver: CheckpointSaver) -> None:
    ids = await put_falling(saver, PAGE * 2 + 1)

    assert await listed(saver, at("t")) == ids[::-1]
    assert await listed(saver, at("t"), limit=PAGE + 1) == ids[::-1][: PAGE + 1]
    assert await listed(saver, at("t"), filter={"step": 0}, limit=1) == ids[:1]


async def test_a_list_of_everything_goes_thread_by_thread(saver: CheckpointSaver) -> None:
    first, second = await put_falling(saver, PAGE, "t1"), await put_falling(saver, 3, "t2")

    assert await listed(saver, None) == first[::-1] + second[::-1]


async def test_a_checkpoint_put_again_keeps_its_place(saver: CheckpointSaver) -> None:
    ids = await put_falling(saver)

    await saver.aput(at("t", ids[-1]), draft(ids[0]), {**METADATA, "step": 9}, {})

    assert await listed(saver, at("t")) == ids[::-1]
    again = await saver.aget_tuple(at("t", ids[0]))
    assert again is not None
    assert again.metadata.get("step") == 9
    assert again.parent_config is None


@pytest.mark.parametrize("with_row", [True, False])
async def test_interleaved_writers_of_one_thread_get_an_order_without_gaps_or_ties(
    saver: CheckpointSaver, database: Database, lease_on: Leases, with_row: bool
) -> None:
    writer = saver.with_lease(await lease_on("t")) if with_row else saver
    places = [(f"{n:03}", f"sub:{n % 3}") for n in range(30)]

    async def write(checkpoint_id: str, ns: str) -> None:
        await writer.aput(at("t", None, ns), draft(checkpoint_id), METADATA, {})
        await writer.aput_writes(at("t", checkpoint_id, ns), [("messages", checkpoint_id)], "task")

    await asyncio.gather(*(write(*place) for place in places))

    async with database.read() as connection:
        numbers = (await connection.execute(select(checkpoints.c.seq).order_by(checkpoints.c.seq))).scalars().all()
    assert numbers == list(range(1, 31))
    for checkpoint_id, ns in places:
        found = await writer.aget_tuple(at("t", checkpoint_id, ns))
        assert found is not None
        assert found.pending_writes == [("task", "messages", checkpoint_id)]


class BackwardClock:
    """What `time` is to LangGraph's ids, on a machine whose clock falls by an hour with every look at it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000_000_000

    def time_ns(self) -> int:
        self.now -= 3_600_000_000_000
        return self.now


def ask(state: MessagesState) -> dict[str, Any]:
    return {"messages": [("ai", f"you said {interrupt('well?')}")]}


async def test_a_graph_pauses_and_resumes_while_the_clock_steps_back(
    saver: CheckpointSaver, database: Database, lease_on: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    # LangGraph keeps ids rising within one process; each new one here stands for a process that just started.
    original = langgraph_ids.uuid6
    clock = BackwardClock()

    def restarted(node: int | None = None, clock_seq: int | None = None) -> langgraph_ids.UUID:
        monkeypatch.setattr(langgraph_ids, "_last_v6_timestamp", None)
        return original(node, clock_seq)

    monkeypatch.setattr(langgraph_ids, "time", clock)
    monkeypatch.setattr("langgraph.pregel._checkpoint.uuid6", restarted)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END)
    graph = builder.compile(checkpointer=saver.with_lease(await lease_on("t")))
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}

    for turn in range(3):
        await graph.ainvoke({"messages": [("human", f"turn {turn}")]}, config, durability="sync")
        state = await graph.aget_state(config)
        assert [pending.value for pending in state.interrupts] == ["well?"]
        await graph.ainvoke(Command(resume=f"answer {turn}"), config, durability="sync")

    state = await graph.aget_state(config)
    assert [message.content for message in state.values["messages"]] == [
        text for turn in range(3) for text in (f"turn {turn}", f"you said answer {turn}")
    ]
    stored = await listed(saver, at("t"))
    assert stored == sorted(stored)
    steps = [found.metadata["step"] async for found in graph.aget_state_history(config) if found.metadata]
    assert steps == sorted(steps, reverse=True)


async def test_the_latest_of_many_threads_are_read_together(saver: CheckpointSaver, lease_on: Leases) -> None:
    names = [f"t{n}" for n in range(3)]
    for count, name in enumerate(names[:2], 2):
        await lease_on(name)
        await put_falling(saver, count, name)
        await saver.aput_writes(at(name, f"{1:06}"), [("out", name)], "task")
    await lease_on(names[2])
    await put_falling(saver, 5, "unnamed")
    await saver.aput(at(names[0], ns="inner"), draft("inside"), METADATA, {})
    reading = await saver.with_heads([*names, "unknown"])
    for name in names:
        head = await saver.aget_tuple(at(name))
        assert await reading.aget_tuple(at(name)) == head
        # What was written since is not in what was read.
        await saver.aput(at(name, f"{1:06}"), draft("newer"), METADATA, {})
        after = await reading.aget_tuple(at(name))
        assert after == head if head else after is not None
    inside = await reading.aget_tuple(at(names[0], ns="inner"))
    assert inside is not None
    assert inside.checkpoint["id"] == "inside"
    earlier = await reading.aget_tuple(at(names[1], f"{3:06}"))
    assert earlier is not None
    assert earlier.checkpoint["id"] == f"{3:06}"
