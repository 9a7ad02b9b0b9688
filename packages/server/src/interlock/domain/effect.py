"""An effect: one execution of a tool, recorded around it so that a crash never repeats it in silence."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from interlock.domain.transitions import Transitions


class EffectState(StrEnum):
    INTENDED = "intended"
    WAITING = "waiting"
    """Its last attempt ended in an ask: running it again is right."""
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    """Begun, and nobody knows how it ended; a person has been asked."""
    RETRY = "retry"
    """In doubt, and a person said that it may run again."""


EFFECT = Transitions(
    "effect",
    {
        EffectState.INTENDED: frozenset(
            {
                EffectState.INTENDED,  # an idempotent tool or a container, entered again after a crash
                EffectState.WAITING,
                EffectState.DONE,
                EffectState.FAILED,
                EffectState.IN_DOUBT,
            }
        ),
        EffectState.WAITING: frozenset({EffectState.INTENDED}),
        EffectState.FAILED: frozenset({EffectState.INTENDED}),
        EffectState.IN_DOUBT: frozenset({EffectState.RETRY, EffectState.DONE}),
        EffectState.RETRY: frozenset({EffectState.INTENDED}),
        EffectState.DONE: frozenset(),
    },
)


@dataclass(frozen=True, slots=True)
class EffectKey:
    thread_id: str
    task_id: str
    """LangGraph's task id: it survives a crash, and differs where tool_call_ids repeat across turns."""
    call_id: str

    @property
    def is_tool_call(self) -> bool:
        """Whether streams tell of it; what a plain node records by a key of its own is its own affair."""
        return not self.call_id.startswith(NODE_EFFECT)

    @property
    def idempotency_key(self) -> str:
        """The same text whenever this effect is tried again."""
        return f"{self.thread_id}/{self.task_id}/{self.call_id}"


NODE_EFFECT = "effect:"


@dataclass(frozen=True, slots=True)
class Effect:
    key: EffectKey
    run_id: str
    epoch: int
    tool: str
    args: dict[str, Any]
    digest: str
    state: EffectState
    idempotent: bool
    asks: int
    """How many of its task's interrupts it used up; a recorded result must use them up again."""
    created_at: datetime
    updated_at: datetime
    result: bytes | None = None
    """As the runner serialized it; its type is in front, ended by a newline."""
    parent: EffectKey | None = None
    """The effect inside which it ran: that one is a container, entered again and never in doubt."""
    error: str | None = None
