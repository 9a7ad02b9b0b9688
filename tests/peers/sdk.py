"""LangGraph's own Python client, on the routes of its face over a stage: what reporters of its issues call."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from langgraph_sdk.client import LangGraphClient

from tests.runners.stage import Stage
from tests.runners.test_double_clicks import client_of

GO = {"messages": [{"role": "user", "content": "go"}]}


class Caller:
    """A program with one thread. The client is untyped: what it gives is JSON."""

    def __init__(self, sdk: Any, thread_id: str) -> None:
        self.sdk, self.thread_id = sdk, thread_id

    async def run(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._wait(input=dict(given or GO))

    async def resume(self, value: Any, **more: Any) -> dict[str, Any]:
        return await self._wait(command={"resume": value}, **more)

    async def state(self) -> dict[str, Any]:
        return await self.sdk.threads.get_state(self.thread_id)

    async def _wait(self, **given: Any) -> dict[str, Any]:
        return await self.sdk.runs.wait(self.thread_id, "agent", **given)


def interrupts_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """What waits, by id."""
    found = list[Mapping[str, Any]](result.get("__interrupt__", ()))
    by_id = {one["id"]: one["value"] for one in found}
    assert len(by_id) == len(found), "an id is used twice"
    return by_id


@asynccontextmanager
async def calling(stage: Stage) -> AsyncGenerator[Caller]:
    async with client_of(stage) as http:
        sdk = LangGraphClient(http)
        thread = await sdk.threads.create()
        yield Caller(sdk, thread["thread_id"])
