"""Pydantic AI: calls of tools with requires_approval are put to a person.

INTERLOCK_KEY=... .venv/bin/python examples/elsewhere/with_pydantic_ai.py
"""

import asyncio

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interlock_client import Interlock
from interlock_client.adapters.pydantic_ai import run_with_approvals


def stand_in(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """So that the example needs no key; a real one is Agent("openai:gpt-5")."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse([TextPart(f"I was told: {last.content}")])
    return ModelResponse([ToolCallPart("delete_file", {"path": "old.txt"})])


agent = Agent(FunctionModel(stand_in))


@agent.tool_plain(requires_approval=True)
def delete_file(path: str) -> str:
    """Delete a file for good."""
    return f"deleted {path}"


async def main() -> None:
    async with Interlock.from_environment() as client:
        result = await run_with_approvals(agent, "Tidy up", client, risk={"delete_file": "high"})
    print(result.output)


asyncio.run(main())
