"""The agents that this server hosts, by name, and the work they do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from interlock.domain.json_value import ABSENT, JsonValue
from interlock.domain.kinds import Value
from interlock.domain.preview import FilePreview
from interlock.domain.request import Request
from interlock.domain.run import Claim
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
    risk: str | None = None
    """How risky the agent says that its calls are; None where it says nothing."""


@dataclass(frozen=True, slots=True)
class TaskState:
    """One step that a graph has before it, or took from that state."""

    id: str
    name: str
    path: Sequence[JsonValue]
    error: str | None
    interrupts: Sequence[str]
    """The ids of what it waits for, as LangGraph has them."""
    result: JsonValue
    space: str
    """The namespace of the graph inside of it; empty where it has none."""
    state: "Snapshot | None"
    sent: JsonValue = ABSENT
    """What a `Send` gave it in place of the state."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A graph's state at one checkpoint, as JSON."""

    values: JsonValue
    next: Sequence[str]
    tasks: Sequence[TaskState]
    metadata: Mapping[str, JsonValue]
    created_at: str | None
    checkpoint_id: str | None
    parent_id: str | None
    space: str = ""
    run_id: str | None = None
    """The run that wrote it."""

    @property
    def step(self) -> int:
        """Its place among the steps of the thread; the first input is -1."""
        step = self.metadata.get("step")
        return step if isinstance(step, int) else -1


@dataclass(frozen=True, slots=True)
class GraphSchemas:
    input: Mapping[str, JsonValue]
    output: Mapping[str, JsonValue]
    state: Mapping[str, JsonValue]
    config: Mapping[str, JsonValue]
    context: Mapping[str, JsonValue]


class Graphs(Protocol):
    """What clients of LangGraph's own interface see of agents. An agent that is not hosted here has no state."""

    async def snapshot(
        self, thread: Thread, checkpoint_id: str | None = None, *, inner: bool = False, space: str = ""
    ) -> Snapshot:
        """The state there, or the newest; with the states of graphs inside of it where `inner` says so.

        `space` is the namespace of a graph inside, whose own state is meant then.
        """
        ...

    async def heads(self, threads: Sequence[Thread]) -> list[Snapshot]:
        """The newest states of many threads, in their order, read in one transaction."""
        ...

    async def snapshots(
        self,
        thread: Thread,
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        *,
        run_id: str | None = None,
        space: str = "",
    ) -> list[Snapshot]:
        """The states before a checkpoint, of all runs or of one, the newest first. Where in a namespace stands no graph
        that is known, as of one that a tool called, values are all that is told."""
        ...

    async def check_update(
        self, thread: Thread, values: JsonValue, as_node: str | None, past: str | None = None
    ) -> None:
        """`InvalidInput` for what the state does not take; nothing is written."""
        ...

    async def update_state(
        self, thread: Thread, values: JsonValue, as_node: str | None, past: str | None = None
    ) -> str:
        """Write to the state of a thread that is at rest, as it is or as it was at a checkpoint of the past; the new
        checkpoint's id. `LeaseLost` when a run began."""
        ...

    async def return_to(self, thread: Thread, checkpoint_id: str) -> str:
        """Make a state of the past the newest one of a thread that is at rest; the new checkpoint's id. `NotFound` for
        a checkpoint that it has not, `LeaseLost` when a run began."""
        ...

    async def copy_state(self, source: Thread, target: Thread) -> None:
        """Give a new thread all the states of another one."""
        ...

    def schemas(self, name: str) -> GraphSchemas: ...

    def inner_schemas(self, name: str, space: str | None, *, recurse: bool) -> Mapping[str, GraphSchemas]:
        """Those of the graphs that stand in the agent's graph as nodes, by namespace."""
        ...

    def has_inner(self, name: str) -> bool:
        """Whether a node of the agent's graph is a graph itself."""
        ...

    def drawing(self, name: str, depth: int | bool) -> Mapping[str, JsonValue]:
        """`{nodes, edges}`."""
        ...


class AgentsShown(Protocol):
    """What inboxes show of agents, beside what they ask."""

    def tools_of(self, name: str) -> Sequence[ToolInfo]: ...

    def schema(self, request: Request) -> Mapping[str, JsonValue] | None:
        """The JSON Schema of the arguments that the tool of an approval takes; None where it is not known."""
        ...

    async def file_preview(self, request: Request) -> FilePreview | None:
        """The file that the call would change; None where it changes none, or the agent's files are not known."""
        ...


class Agents(AgentsShown, Graphs, Protocol):
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
