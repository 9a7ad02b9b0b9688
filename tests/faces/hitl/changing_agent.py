"""The puppet with a guarded tool whose definition is another one, as the environment says; loaded by servers only."""

import os
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.tools import StructuredTool

from interlock.langchain import InterlockMiddleware
from tests.support.puppet_agent import PuppetModel

VARIANT = "GUARDED_VARIANT"


async def _plain(name: str) -> str:
    return f"done {name}"


async def _wider(name: str, force: bool = False) -> str:
    return f"done {name} {force}"


def agent() -> Any:
    variant = os.environ[VARIANT]
    function = _wider if variant == "wider" else _plain
    described = "Do something else entirely." if variant == "described" else "Do something."
    tool = StructuredTool.from_function(coroutine=function, name="guarded", description=described)
    middleware = [InterlockMiddleware(interrupt_on={"guarded": {"description": "asked alike"}})]
    return create_agent(PuppetModel(), tools=[tool], middleware=middleware)
