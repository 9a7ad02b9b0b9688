"""For agents made with LangChain's `create_agent`: approvals, effect records, and tools that ask a person."""

from interlock.agents.ask_tools import ask_tools, ask_user, request_clarification, request_decision, request_env_vars
from interlock.agents.middleware import Gate, InterlockMiddleware

__all__ = [
    "Gate",
    "InterlockMiddleware",
    "ask_tools",
    "ask_user",
    "request_clarification",
    "request_decision",
    "request_env_vars",
]
