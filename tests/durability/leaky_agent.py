"""An agent that asks for variables and fails with them in its mouth; loaded by servers only."""

import hashlib
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.tools import ToolException, tool

from interlock import ask
from interlock.langchain import InterlockMiddleware, ask_tools
from tests.support.puppet_agent import PuppetModel
from tests.support.witness import say


@tool
def use_key(name: str) -> str:
    """Use the key, as a tool does that was handed it."""
    say(f"did key:{hashlib.sha256(ask.secret(name).encode()).hexdigest()}")
    return f"used {name}"


@tool
def fail_softly(name: str) -> str:
    """Fail in a way that the model is told of."""
    raise ToolException(f"the service did not take {ask.secret(name)}")


@tool
def fail_in_quotes(name: str) -> str:
    """Fail with the value as Python spells it."""
    raise ToolException(f"no such key: {ask.secret(name)!r}")


@tool
def fail_hard(name: str) -> str:
    """Fail in a way that ends the run."""
    raise RuntimeError(f"connection to https://user:{ask.secret(name)}@host refused")


for _one in (fail_softly, fail_in_quotes):
    _one.handle_tool_error = True

agent: Any = create_agent(
    PuppetModel(),
    [use_key, fail_softly, fail_in_quotes, fail_hard, *ask_tools],
    middleware=[InterlockMiddleware({})],
)
