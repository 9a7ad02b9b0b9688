"""The agents that this server hosts, by name, and the work they do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from interlock.domain.claim import Claim
from interlock.domain.json_value import JsonValue
from interlock.domain.kinds import Value
from interlock.domain.preview import FilePreview
from interlock.domain.request import Request
from interlock.domain.run_input import GraphInput
from interlock.domain.thread import Thread

MessageRole = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str
    tool_calls: Sequence[Mapping[str, JsonValue]] = ()
    """With an assistant's message: `{id, name, args}` of each tool that it called."""
    id: str | None = None
    call_id: str | None = None
    """With a tool's message: the call that it is the result of."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    name: str
    description: str
    schema: Mapping[str, JsonValue]


class AgentsShown(Protocol):
    """What inboxes show of agents, beside what they ask."""

    def tools_of(self, name: str) -> Sequence[ToolInfo]: ...

    def schema(self, request: Request) -> Mapping[str, JsonValue] | None:
        """The JSON Schema of the arguments that the tool of an approval takes; None where it is not known."""
        ...

    async def file_preview(self, request: Request) -> FilePreview | None:
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

    def has_messages(self, name: str) -> bool:
        """Whether the agent's graph keeps a conversation; also true of an agent that is not hosted here."""
        ...

    def check_input(self, name: str, given: GraphInput) -> None:
        """Raise `InvalidInput` when the agent's graph does not take this; `input.NAME` names each field that is wrong.

        An agent that is not hosted here takes everything: the run will say so.
        """
        ...

    def check(self, request: Request, value: Value) -> None:
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

    async def start(self) -> None:
        """Begin to look for work, and go on with what was going."""
        ...

    async def close(self) -> None:
        """Bring what is under way to where somebody else can go on with it."""
        ...

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
