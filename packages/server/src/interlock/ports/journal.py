"""The effect journal of one run: what a tool wrapper asks before it lets a tool start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from interlock.domain.effect import EffectKey
from interlock.domain.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class EffectStart:
    """Start the tool: the intent is on disk."""

    key: EffectKey
    digest: str
    """Of the tool and its arguments."""
    is_again: bool = False
    """Whether it has begun before."""


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """Do not start it: this is what it gave when it ran. `asks` interrupts of its task were used up by it."""

    key: EffectKey
    result: bytes
    asks: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Do not start it: a person refused this very call, or answered in its place."""

    message: str
    """The reason of a refusal, or the answer."""
    is_answer: bool = False


class Journal(Protocol):
    """Every method commits before it returns, and raises `LeaseLost` when the run is no longer this worker's."""

    async def begin(
        self,
        task_id: str,
        call_id: str,
        tool: str,
        args: Mapping[str, JsonValue],
        *,
        idempotent: bool,
        parent: EffectKey | None,
        asks: int = 0,
        former_id: str | None = None,
        space: str = "",
        asker: str = "",
        made_as: Sequence[str] = (),
    ) -> EffectStart | RecordedResult | Refusal:
        """Record the intent, or give the recorded result, or what a person said in place of it.

        A call that only asked so far may come with other arguments.

        `asks` of the task's answers are this effect's own: were it cut short and its result given by a person, they
        would be used up by it. `former_id` is the call id that earlier versions gave to an effect inside a tool call.
        `space` is the namespace of the graph whose call it is: an approval that a graph beside it asked for is not its.
        `asker` are the effects around it: what was asked inside another call is not about this one.
        `made_as` are the ids that the model gave to the call that it may be, where it has another one now.
        """
        ...

    async def record_result(
        self, key: EffectKey, result: bytes, asks: int, output: str, *, failed: bool = False
    ) -> None:
        """Record the result. `failed` is for a tool that reported its failure as a result."""
        ...

    async def record_failure(self, key: EffectKey, error: str) -> None:
        """Record that it raised; running it again is right when somebody asks for that."""
        ...

    async def record_waiting(self, key: EffectKey) -> None:
        """Record that it asked a person; it will be entered again."""
        ...
