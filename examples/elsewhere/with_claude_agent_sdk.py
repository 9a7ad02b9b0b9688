"""The Claude Agent SDK: what Claude's permission rules do not settle is put to a person. It needs a key of Anthropic's.

INTERLOCK_KEY=... .venv/bin/python examples/elsewhere/with_claude_agent_sdk.py Delete old.txt
"""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, Transport, query

from interlock_client import Interlock
from interlock_client.adapters.claude_agent import ask_a_person


async def main(prompt: str, transport: Transport | None = None) -> None:
    async with Interlock.from_environment() as client:
        options = ClaudeAgentOptions(can_use_tool=ask_a_person(client, risk={"Bash": "high"}, timeout=3600))
        async for message in query(prompt=prompt, options=options, transport=transport):
            if isinstance(message, ResultMessage):
                print(message.result)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
