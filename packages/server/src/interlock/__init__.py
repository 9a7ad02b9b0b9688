"""Interlock: a self-hosted human-in-the-loop server for AI agents.

For the code of hosted agents: `from interlock import ask`, `interlock.effect(key, fn)`, `interlock.idempotency_key()`
and `interlock.langchain`. They are imported on first use, so that commands which need no LangGraph start at once.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock.agents.asking import EffectSkipped
    from interlock.agents.context import idempotency_key
    from interlock.agents.effects import effect

__all__ = ["EffectSkipped", "__version__", "effect", "idempotency_key"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name == "effect":
        from interlock.agents.effects import effect

        return effect
    if name == "EffectSkipped":
        from interlock.agents.asking import EffectSkipped

        return EffectSkipped
    if name == "idempotency_key":
        from interlock.agents.context import idempotency_key

        return idempotency_key
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
