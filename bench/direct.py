"""The baseline: the graph called in process, on LangGraph's own SQLite saver."""

import asyncio
import time
from pathlib import Path
from uuid import uuid4

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from bench.agent import build


async def measure(folder: Path, threads: int, cycles: int) -> list[float]:
    """Seconds of each cycle of ask, answer and resume, with so many threads at once."""
    graph = build()
    async with AsyncSqliteSaver.from_conn_string(str(folder / f"direct-{threads}.db")) as saver:
        graph.checkpointer = saver

        async def cycle() -> float:
            started = time.perf_counter()
            config = {"configurable": {"thread_id": str(uuid4())}}
            await graph.ainvoke({"messages": [("user", "touch it")]}, config, durability="sync")
            resume = Command(resume={"decisions": [{"type": "approve"}]})
            result = await graph.ainvoke(resume, config, durability="sync")
            assert result["messages"][-1].text == "It is done."
            return time.perf_counter() - started

        async def thread() -> list[float]:
            return [await cycle() for _ in range(cycles)]

        await cycle()
        times = await asyncio.gather(*(thread() for _ in range(threads)))
    return [one for each in times for one in each]
