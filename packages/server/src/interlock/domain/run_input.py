"""What a run is started with: a person's message, an input of the graph's own form, or nothing.

Only the storage keeps it as JSON, by `to_json` and `from_json`; the first versions wrote `{text, system?}` and `{}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from interlock.domain.canonical import json_text
from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.json_value import JsonObject, JsonValue

Nodes = tuple[str, ...] | Literal["*"]
"""Names of nodes, or all of them."""
MOST_STEPS = 10_000
MOST_SHOWN = 20_000
"""How much of an input is told in the log; the run has it as a whole."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How the graph is run, for a whole turn: the run that was started with it, and those that answers go on with."""

    configurable: JsonObject = field(default_factory=JsonObject)
    recursion_limit: int | None = None
    tags: tuple[str, ...] = ()
    context: JsonObject | None = None
    interrupt_before: Nodes = ()
    interrupt_after: Nodes = ()
    tells_inner: bool = False
    """Whether those who follow its runs are told of graphs inside too, where they do not say."""

    @classmethod
    def of(
        cls,
        config: Mapping[str, JsonValue] | None = None,
        context: Mapping[str, JsonValue] | None = None,
        interrupt_before: Nodes = (),
        interrupt_after: Nodes = (),
        *,
        tells_inner: bool = False,
    ) -> "RunSettings":
        """From a config in LangGraph's form. What says where the graph stands is the server's own and is left out."""
        config = config or {}
        configurable: JsonValue = config.get("configurable") or JsonObject()
        tags, limit = config.get("tags") or (), config.get("recursion_limit")
        if not isinstance(configurable, dict):
            raise _wrong("config.configurable", "must be an object")
        if not _is_texts(tags):
            raise _wrong("config.tags", "must be a list of texts")
        if limit is not None and (type(limit) is not int or not 1 <= limit <= MOST_STEPS):
            raise _wrong("config.recursion_limit", f"must be a number from 1 to {MOST_STEPS}")
        own_values = {key: value for key, value in cast("JsonObject", configurable).items() if not _is_own(key)}
        given = None if context is None else dict(context)
        return cls(own_values, limit, tuple(tags), given, interrupt_before, interrupt_after, tells_inner)


@dataclass(frozen=True, slots=True)
class Send:
    node: str
    input: JsonValue = None


@dataclass(frozen=True, slots=True)
class GraphCommand:
    """An update of the state, and the nodes to go on with; an empty one goes on with those that are next."""

    update: JsonValue = None
    goto: tuple[str | Send, ...] = ()


def updates_in(update: JsonValue) -> list[tuple[str, JsonValue]] | None:
    """The fields of an update, which is an object or a list of pairs; None where it is neither."""
    if isinstance(update, dict):
        return list(cast("JsonObject", update).items())
    pairs: list[JsonValue] = cast("list[JsonValue]", update) if isinstance(update, list) else [update]
    return [(one[0], one[1]) for one in pairs] if all(_is_pair(one) for one in pairs) else None


def _is_pair(value: JsonValue) -> bool:
    parts = cast("list[JsonValue]", value) if isinstance(value, list) else []
    return len(parts) == 2 and isinstance(parts[0], str)


@dataclass(frozen=True, slots=True)
class MessageInput:
    text: str
    system: str | None = None
    """Heeded where a conversation begins."""
    settings: RunSettings = field(default_factory=RunSettings)

    def as_text(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class GraphInput:
    """What the graph takes, as it is; with a command `values` is null."""

    values: JsonValue = None
    settings: RunSettings = field(default_factory=RunSettings)
    command: GraphCommand | None = None
    metadata: JsonObject = field(default_factory=JsonObject)
    """What its sender says of the run; the graph does not see it."""

    def as_text(self) -> str:
        """In one text, for logs, lists and titles: the person's words where that is all there is, else JSON."""
        if self.command == GraphCommand():
            # Nobody said anything: a sign that is of no language.
            return "↩"
        values = self.values if self.command is None else _command_to_json(self.command)
        text = _message_text(values) or json_text(values, ensure_ascii=False)
        return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class NoInput:
    """The run goes on from the thread's state and the answers on record."""

    def as_text(self) -> str:
        return ""


RunInput = MessageInput | GraphInput | NoInput


def to_json(given: RunInput) -> JsonObject:
    match given:
        case MessageInput():
            system = {"system": given.system} if given.system else {}
            return {"text": given.text, **system, **_without_absent(_settings_to_json(given.settings))}
        case GraphInput():
            more: JsonObject = {
                **_settings_to_json(given.settings),
                "command": _command_to_json(given.command) if given.command else None,
                "metadata": given.metadata,
            }
            return {"values": given.values, **_without_absent(more)}
        case NoInput():
            return {}


def from_json(data: JsonObject) -> RunInput:
    if "text" in data:
        return MessageInput(data["text"], data.get("system"), _settings_from_json(data))
    if "values" not in data:
        return NoInput()
    command = data.get("command")
    return GraphInput(
        data["values"],
        _settings_from_json(data),
        _command_from_json(command) if command else None,
        data.get("metadata", {}),
    )


def _without_absent(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value}


def _settings_to_json(settings: RunSettings) -> JsonObject:
    return {
        "configurable": settings.configurable,
        "recursion_limit": settings.recursion_limit,
        "tags": list(settings.tags),
        # An empty one is another than none: a graph may ask for one.
        "context": None if settings.context is None else [settings.context],
        "interrupt_before": _nodes_to_json(settings.interrupt_before),
        "interrupt_after": _nodes_to_json(settings.interrupt_after),
        "tells_inner": settings.tells_inner,
    }


def _settings_from_json(data: JsonObject) -> RunSettings:
    context = data.get("context")
    return RunSettings(
        data.get("configurable", {}),
        data.get("recursion_limit"),
        tuple(data.get("tags", ())),
        context[0] if context else None,
        _nodes_from_json(data.get("interrupt_before", ())),
        _nodes_from_json(data.get("interrupt_after", ())),
        data.get("tells_inner", False),
    )


def _nodes_to_json(nodes: Nodes) -> JsonValue:
    return nodes if nodes == "*" else list(nodes)


def _nodes_from_json(data: str | Sequence[str]) -> Nodes:
    return "*" if data == "*" else tuple(data)


def _command_to_json(command: GraphCommand) -> JsonObject:
    goto = [one if isinstance(one, str) else {"node": one.node, "input": one.input} for one in command.goto]
    return {"update": command.update, "goto": goto}


def _command_from_json(data: JsonObject) -> GraphCommand:
    goto = (one if isinstance(one, str) else Send(one["node"], one["input"]) for one in data["goto"])
    return GraphCommand(data["update"], tuple(goto))


def _message_text(values: JsonValue) -> str | None:
    """The text of an input that is one message of a person, and nothing else."""
    match values:
        case {"messages": [str(text)], **rest} if not rest:
            return text
        case {"messages": [{"content": str(text), **message}], **rest} if not rest:
            is_persons = message.get("role", message.get("type")) in ("user", "human")
            return text if is_persons else None
        case _:
            return None


def _is_own(key: str) -> bool:
    """Whether a key of a config names the place in a thread, the run, or what LangGraph and Interlock lend a graph."""
    # By a run id that it saw before LangGraph takes an input for a resume, and drops it.
    return key in ("thread_id", "run_id") or key.startswith(("checkpoint_", "langgraph_", "interlock_", "__"))


def _is_texts(value: JsonValue) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in cast("list[JsonValue]", value))


def _wrong(name: str, what: str) -> InvalidInput:
    message = f"{name} {what}"
    return InvalidInput(message, [FieldError(name, "form", message)])
