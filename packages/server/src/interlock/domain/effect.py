"""An effect: one execution of a tool, recorded around it so that a crash never repeats it in silence."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from interlock.domain.json_value import JsonObject
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
    """LangGraph's task id: it survives a crash, and differs where tool_call_ids repeat across turns. It begins with
    `UNKEPT` in a graph whose steps the run does not keep: there it is another one each time."""
    call_id: str
    """The id of the tool call, and its number where the id came before in the same task: see `unique_call_id`."""

    @property
    def tool_call_id(self) -> str:
        """As the model wrote it."""
        numbers = _NUMBERED.fullmatch(self.call_id)
        return numbers[1] if numbers else self.call_id

    @property
    def is_kept(self) -> bool:
        """Whether the effect is found again, by this key, when what it is part of is run again."""
        return not self.task_id.startswith(UNKEPT)

    @property
    def is_tool_call(self) -> bool:
        """Whether streams tell of it; what a plain node records by a key of its own is its own affair."""
        return not self.call_id.startswith(NODE_EFFECT)

    @property
    def idempotency_key(self) -> str:
        """The same text whenever this effect is tried again."""
        return f"{self.thread_id}/{self.task_id}/{self.call_id}"


NODE_EFFECT = "effect:"
_NUMBERED = re.compile(r"(.*) #\d+(?:\.\d+)?", re.DOTALL)


def unique_call_id(call_id: str, time: int, rank: int = 0) -> str:
    """What tells the calls of a task apart whose ids are the same: there are models that begin anew in each message.

    `time` counts from 1, and `rank` from 0 where it is one message that has several. The first of all has no number,
    unless its own id looks as if it had one.
    """
    if (time, rank) == (1, 0) and not _NUMBERED.fullmatch(call_id):
        return call_id
    return f"{call_id} #{time}" + (f".{rank + 1}" if rank else "")


UNKEPT = "unkept:"
SKIPPED = b"interlock.skipped\n"
"""The recorded result of an effect of plain code that a person said not to run again: there is none."""
SKIPPED_TEXT = "Skipped: it was cut short by a crash, and whether it took effect is not known."
"""What the model is told in place of a tool call's result. Earlier versions gave it to plain code too."""


@dataclass(frozen=True, slots=True)
class Effect:
    key: EffectKey
    run_id: str
    epoch: int
    tool: str
    args: JsonObject
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
    """The effect inside which it ran; of one that is not kept, the nearest that is."""
    error: str | None = None
