"""`from interlock import ask`: ask a person from any node or tool of a hosted LangGraph graph."""

from interlock.agents.asking import (
    Approval,
    Decision,
    NotAnswered,
    approval,
    clarification,
    decision,
    env_vars,
    questions,
)
from interlock.agents.context import secret

__all__ = [
    "Approval",
    "Decision",
    "NotAnswered",
    "approval",
    "clarification",
    "decision",
    "env_vars",
    "questions",
    "secret",
]
