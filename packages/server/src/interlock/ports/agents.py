"""The agents that this server hosts, by name, and the work they do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from interlock.domain.request import Request
from interlock.domain.thread import Thread

MessageRole = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str


class Agents(Protocol):
    @property
    def names(self) -> tuple[str, ...]:
        """Every name, the default one first."""
        ...

    async def history(self, thread: Thread) -> list[Message]:
        """The thread's messages in order, content as text, empty ones included."""
        ...

    def check(self, request: Request, value: Mapping[str, Any]) -> None:
        """Raise `InvalidAnswer` when the agent's graph would refuse this answer, which fits the ask otherwise."""
        ...


class Runner(Protocol):
    """Runs what is queued. Both calls are hints: whoever does not hear them finds the work in the store."""

    def wake(self, run_id: str) -> None:
        """A run is queued."""
        ...

    def stop(self, run_id: str) -> None:
        """A running run was asked to stop, by a mark in the store."""
        ...
