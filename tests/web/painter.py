"""An agent beside the puppet, with a tool whose arguments are of every type, and one of low risk; for servers only.

It reads its messages as the puppet does.
"""

import json
from typing import Any, Literal

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from interlock.langchain import InterlockMiddleware
from tests.support.puppet_agent import PuppetModel
from tests.support.witness import say


class Frame(BaseModel):
    width: int
    colour: str


def _paint(
    text: str,
    copies: int,
    scale: float,
    bold: bool,
    tags: list[str],
    frame: Frame,
    mode: Literal["fast", "slow"] = "fast",
    note: str | None = None,
) -> str:
    """Paint a picture."""
    given = {**locals(), "frame": frame.model_dump()}
    say(f"did paint:{json.dumps(given, sort_keys=True, separators=(',', ':'))}")
    return f"painted {text}"


def _peek(name: str) -> str:
    """Look at something."""
    say(f"did {name}")
    return f"seen {name}"


def agent() -> Any:
    return create_agent(
        PuppetModel(),
        tools=[StructuredTool.from_function(_paint, name="paint"), StructuredTool.from_function(_peek, name="peek")],
        middleware=[InterlockMiddleware(interrupt_on={"paint": True, "peek": {"risk_level": "low"}})],
    )
