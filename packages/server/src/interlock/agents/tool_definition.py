"""What a tool is known again by: how it is described to a model."""

from collections.abc import Iterable
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from interlock.domain.canonical import digest


def definition_of(tools: Iterable[BaseTool]) -> str:
    """Of one tool, or of several that share a name: the digest by which a remembered permission is bound to them."""
    return digest(sorted({digest(described(tool)) for tool in tools}))


def described(tool: BaseTool) -> dict[str, Any]:
    return convert_to_openai_tool(tool)
