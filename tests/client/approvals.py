"""Messages for the agent in `approving_agent.py`, which asks for the approval that a message describes."""

import json
from pathlib import Path
from typing import Any

NAME = "approvals"
SPEC = f"{NAME}={Path(__file__).resolve().with_name('approving_agent.py')}:agent"


def approval(tool: str, risk: str = "medium", /, **args: Any) -> str:
    return json.dumps([{"tool": tool, "risk": risk, "args": args}])


def approvals(*tools: str) -> str:
    """One after the other."""
    return json.dumps([{"tool": tool, "risk": "medium", "args": {}} for tool in tools])
