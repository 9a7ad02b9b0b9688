"""The effect journal of one run: what a tool wrapper asks before it lets a tool start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from interlock.domain.effect import EffectKey


@dataclass(frozen=True, slots=True)
class Begun:
    """Start the tool: the intent is on disk."""

    key: EffectKey


@dataclass(frozen=True, slots=True)
class Recorded:
    """Do not start it: this is what it gave when it ran. `asks` interrupts of its task were used up by it."""

    result: bytes
    asks: int


class Journal(Protocol):
    """Every method commits before it returns, and raises `LeaseLost` when the run is no longer this worker's."""

    async def begin(
        self,
        task_id: str,
        call_id: str,
        tool: str,
        args: Mapping[str, Any],
        *,
        idempotent: bool,
        parent: EffectKey | None,
        asks: int = 0,
        former_id: str | None = None,
    ) -> Begun | Recorded:
        """Record the intent, or give the recorded result.

        `asks` of the task's answers are this effect's own: were it cut short and its result given by a person, they
        would be used up by it. `former_id` is the call id that earlier versions gave to an effect inside a tool call.
        """
        ...

    async def done(self, key: EffectKey, result: bytes, asks: int, output: str, *, failed: bool = False) -> None:
        """Record the result. `failed` is for a tool that reported its failure as a result."""
        ...

    async def failed(self, key: EffectKey, error: str) -> None:
        """Record that it raised; running it again is right when somebody asks for that."""
        ...

    async def waiting(self, key: EffectKey) -> None:
        """Record that it asked a person; it will be entered again."""
        ...
