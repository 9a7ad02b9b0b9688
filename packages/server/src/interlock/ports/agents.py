"""The agents that this server hosts, by name, and the work they do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from interlock.domain.claim import Claim
from interlock.domain.request import Request
from interlock.domain.showing import FileBehind
from interlock.domain.thread import Thread

MessageRole = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    """With an assistant's message: `{id, name, args}` of each tool that it called."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    name: str
    description: str
    schema: Mapping[str, Any]


class AgentsShown(Protocol):
    """What inboxes show of agents, beside what they ask."""

    def tools_of(self, name: str) -> Sequence[ToolInfo]: ...

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        """The JSON Schema of the arguments that the tool of an approval takes; None where it is not known."""
        ...

    async def file_behind(self, request: Request) -> FileBehind | None:
        """The file that the call would change; None where it changes none, or the agent's files are not known."""
        ...


class Agents(AgentsShown, Protocol):
    @property
    def names(self) -> tuple[str, ...]:
        """Every name, the default one first."""
        ...

    async def history(self, thread: Thread) -> list[Message]:
        """The thread's messages in order, content as text, empty ones included."""
        ...

    def check(self, request: Request, value: Mapping[str, Any]) -> None:
        """Raise `InvalidAnswer` when the agent's graph would refuse this answer, which fits the ask otherwise.

        The arguments of an edit are held against what the tool takes, by its definition or, where the agent runs
        elsewhere, by what that said of it; `args.NAME` names each that is wrong.
        """
        ...

    def takes(self, request: Request) -> frozenset[str] | None:
        """The names of the arguments that the tool of an approval takes; None where the tool is not known."""
        ...


class Runner(Protocol):
    """Runs what is queued. What it is told are hints: whoever does not hear them finds the work in the store."""

    def reserve(self) -> str | None:
        """A place for one run more: the worker's name, or None when there is no place.

        The caller takes the lease in its own transaction, and then either has the claim taken or gives the place back.
        """
        ...

    def give_back(self) -> None:
        """A reserved place is not needed."""
        ...

    def take(self, claim: Claim) -> None:
        """Run what was claimed for a reserved place."""
        ...

    def wake(self, run_id: str) -> None:
        """A run is queued."""
        ...

    def stop(self, run_id: str) -> None:
        """A running run was asked to stop, by a mark in the store."""
        ...
