"""An agent beside the puppet, with a tool whose arguments are of every type, and one of low risk; for servers only.

It reads its messages as the puppet does.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel

from interlock import preview
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


def _reprice(shown: str) -> str:
    """Change the prices."""
    say(f"did reprice:{shown}")
    if shown == "broken":
        raise ToolException("no price list")
    return f"repriced as {shown}"


def _repriced(args: Mapping[str, Any]) -> Any:
    if args["shown"] == "table":
        return preview.table(["item", "price"], [["chair\u202e", 12], ["table", 40]])
    if args["shown"] == "text":
        return preview.text("chair: 10 → 12\ntable: 30 → 40")
    if args["shown"] == "diff":
        return preview.diff("prices", "chair: 10\n", "chair: 12\n")
    raise LookupError("no price list")


def agent() -> Any:
    return create_agent(
        PuppetModel(),
        tools=[
            StructuredTool.from_function(_paint, name="paint"),
            StructuredTool.from_function(_peek, name="peek"),
            preview.with_preview(
                StructuredTool.from_function(_reprice, name="reprice", handle_tool_error=True), _repriced
            ),
        ],
        middleware=[InterlockMiddleware(interrupt_on={"paint": True, "peek": {"risk_level": "low"}, "reprice": True})],
    )
