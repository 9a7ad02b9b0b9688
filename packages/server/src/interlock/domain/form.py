"""What the runner keeps with a request of a hosted agent, to turn its answer into what the graph expects.

Only runners read it, and the storage, which keeps it as JSON: versions before this one read and wrote that JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from interlock.domain.ask_binding import AskBinding
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.preview import FileSnapshot


@dataclass(frozen=True, slots=True)
class OwnAsk:
    """One of Interlock's own asks."""


@dataclass(frozen=True, slots=True)
class _Action:
    allowed: Sequence[str]
    name: str


@dataclass(frozen=True, slots=True)
class HitlAction(_Action):
    """One action of LangChain's HITLRequest."""


@dataclass(frozen=True, slots=True)
class ToolApproval(_Action):
    """LangChain's approval of one call."""

    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class HumanInterrupt(_Action):
    """The older HumanInterrupt, alone or of a list."""

    listed: bool
    index: int


@dataclass(frozen=True, slots=True)
class SchemaInterrupt:
    """Anything with a `response_schema`."""

    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class FreeInterrupt:
    """Any other value; any JSON answers it."""


@dataclass(frozen=True, slots=True)
class EffectInDoubt:
    """The runner's own question about an effect that was cut short."""

    task_id: str
    call_id: str
    epoch: int
    tool: str
    unsent: str | None = None
    """The message that waits until the doubt is settled."""
    unsent_run: str | None = None
    """The run whose input waits, where that is no message."""


@dataclass(frozen=True, slots=True)
class StoppedGraph:
    """The runner's own question whether a graph may go on from a breakpoint."""

    checkpoint: str


@dataclass(frozen=True, slots=True)
class UnknownShape:
    """Written by a version that this one does not know."""


Shape = (
    OwnAsk
    | HitlAction
    | ToolApproval
    | HumanInterrupt
    | SchemaInterrupt
    | FreeInterrupt
    | EffectInDoubt
    | StoppedGraph
    | UnknownShape
)

_SHAPES: Mapping[str, type[Shape]] = {
    "ask": OwnAsk,
    "hitl": HitlAction,
    "tool_approval": ToolApproval,
    "human": HumanInterrupt,
    "schema": SchemaInterrupt,
    "free": FreeInterrupt,
    "effect": EffectInDoubt,
    "breakpoint": StoppedGraph,
    "unknown": UnknownShape,
}
_LATER = ("unsent_run",)
"""Not written where there is none, as by the versions that did not know it."""
_NAMES = {shape: name for name, shape in _SHAPES.items()}


@dataclass(frozen=True, slots=True)
class Form:
    shape: Shape
    binding: AskBinding | None = None
    """None where it was written before bindings were: nobody knows to what its answer belongs."""
    file: FileSnapshot | None = None
    """The file that the call would change."""

    def to_json(self) -> JsonObject:
        return {
            "shape": _NAMES[type(self.shape)],
            **{name: value for name, value in asdict(self.shape).items() if name not in _LATER or value is not None},
            **(self.binding.to_json() if self.binding else {}),
            **({"file": self.file.to_json()} if self.file else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> "Form | None":
        if "shape" not in data:
            return None
        file = data.get("file")
        return cls(_shape(data), AskBinding.from_json(data), FileSnapshot.from_json(file) if file else None)


def _shape(data: Mapping[str, JsonValue]) -> Shape:
    shape = _SHAPES.get(data["shape"], UnknownShape)
    known = {field.name: data[field.name] for field in fields(shape) if field.name in data}
    try:
        return shape(**known)
    except TypeError:
        # Another version wrote it with other fields: one such row must not spoil every list that it stands in.
        return UnknownShape()
