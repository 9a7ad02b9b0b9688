"""The OpenAI Agents SDK: calls of tools with needs_approval are put to a person.

INTERLOCK_KEY=... .venv/bin/python examples/elsewhere/with_openai_agents.py
"""

import asyncio

from agents import Agent, RunConfig, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from interlock_client import Interlock
from interlock_client.adapters.openai_agents import run_with_approvals


@function_tool(needs_approval=True)
def delete_file(path: str) -> str:
    """Delete a file for good."""
    print(f"(deleting {path})")
    return f"Deleted {path}."


# So that the example needs no key; a real one is Agent(..., model="gpt-5").
call = function_call("delete_file", {"path": "old.txt"}, call_id="call_1")
stand_in = ScriptedModel([[call], [assistant_message("That is settled.")]])
agent = Agent("tidier", model=stand_in, tools=[delete_file])


async def main() -> None:
    async with Interlock.from_environment() as client:
        result = await run_with_approvals(
            agent,
            "Tidy up",
            client,
            risk={"delete_file": "high"},
            run_config=RunConfig(tracing_disabled=True),
        )
    print(result.final_output)


asyncio.run(main())
