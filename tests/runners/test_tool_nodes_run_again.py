"""A ToolNode that code runs again inside its task: a call that may have taken effect is not made a second time."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode

from tests.runners.conftest import Host
from tests.runners.deeds import Deeds
from tests.runners.script import calls, line

pytestmark = pytest.mark.promise("P6")
MESSAGE = calls(("c1", "charge", {"amount": 10}))


class Charging:
    """Charges, and then raises, or does not come back, the first time."""

    def __init__(self, *, idempotent: bool = False, hangs: bool = False) -> None:
        self.deeds, self.hangs = Deeds(), hangs
        self.began = asyncio.Event()
        self.tool: BaseTool = StructuredTool.from_function(
            coroutine=self.charge, name="charge", description="charge", metadata={"idempotent": idempotent}
        )
        self.tools = ToolNode([self.tool], handle_tool_errors=False)

    async def charge(self, amount: int) -> str:
        self.deeds.note(f"charge {amount}")
        if len(self.deeds.done) > 1:
            return "charged"
        self.began.set()
        if self.hangs:
            await asyncio.Event().wait()
        raise ConnectionError("504 after the charge")


def with_retry(charging: Charging) -> Any:
    tools: Any = charging.tools
    return tools.with_retry(stop_after_attempt=3, wait_exponential_jitter=False).ainvoke


def in_a_loop(charging: Charging) -> Any:
    async def run(given: Any) -> Any:
        with suppress(ConnectionError):
            return await charging.tools.ainvoke(given)
        return await charging.tools.ainvoke(given)

    return run


def node_of(run: Any) -> Any:
    async def node(state: MessagesState) -> dict[str, Any]:
        await run({"messages": [MESSAGE]})
        return {}

    return line(MessagesState, node)


@pytest.mark.parametrize("again", [with_retry, in_a_loop])
async def test_a_call_that_raised_is_not_made_again_where_its_tool_node_is_run_again(
    host: Host, again: Callable[[Charging], Any]
) -> None:
    charging = Charging()
    stage = await host(node_of(again(charging)))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "504 after the charge" in (turn.error or "")
    assert charging.deeds.done == ["charge 10"]


@pytest.mark.parametrize("again", [with_retry, in_a_loop])
async def test_an_idempotent_call_is_made_again(host: Host, again: Callable[[Charging], Any]) -> None:
    charging = Charging(idempotent=True)
    stage = await host(node_of(again(charging)))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert charging.deeds.done == ["charge 10", "charge 10"]


async def test_a_call_that_was_given_up_in_the_middle_is_not_made_again(host: Host) -> None:
    charging = Charging(hangs=True)

    async def run(given: Any) -> Any:
        first = asyncio.ensure_future(charging.tools.ainvoke(given))
        await charging.began.wait()
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        return await charging.tools.ainvoke(given)

    stage = await host(node_of(run))

    turn = await stage.say()

    assert turn.status != "done"
    assert charging.deeds.done == ["charge 10"]
