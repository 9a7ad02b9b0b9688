"""The state of graphs and their form, as JSON, for clients that know LangGraph."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import PregelTask, Send, StateSnapshot
from pydantic import BaseModel, PydanticUserError

from interlock.agents._langgraph import CHECKPOINTER
from interlock.domain.canonical import plain
from interlock.domain.errors import InterlockError, InvalidInput, NotFound
from interlock.domain.json_value import ABSENT, JsonValue
from interlock.ports.agents import GraphSchemas, Snapshot, TaskState
from interlock.runners.graph_state import RUN_KEY
from interlock.runners.loading import Graph

_OWN = ("interlock_", "langgraph_", "__", "checkpoint_")
_PUSH, _SENDS, _COPY = "__pregel_push", "__pregel_tasks", "__copy__"
EMPTY = Snapshot({}, (), (), {}, None, None, None)


async def read(graph: Graph, config: RunnableConfig, *, inner: bool) -> Snapshot:
    try:
        state = await graph.aget_state(config, subgraphs=inner)
    except ValueError as error:
        raise NotFound("there is no such checkpoint on this thread") from error
    if state.created_at is None and "checkpoint_id" in config.get("configurable", {}):
        raise NotFound("there is no such checkpoint on this thread")
    return _snapshot(state, await _sends(config, state)) if state.created_at is not None else EMPTY


async def read_many(
    graph: Graph,
    config: RunnableConfig,
    limit: int,
    before: RunnableConfig | None,
    metadata: Mapping[str, JsonValue],
) -> list[Snapshot]:
    found = graph.aget_state_history(config, filter=dict(metadata) or None, before=before, limit=limit)
    return [_snapshot(one, await _sends(config, one)) async for one in found]


async def read_values(config: RunnableConfig) -> Snapshot:
    """Of a graph that is not known, as it was called by a tool: what its checkpoint keeps."""
    saved = await _saver(config).aget_tuple(config)
    if saved is None and "checkpoint_id" in config.get("configurable", {}):
        raise NotFound("there is no such checkpoint on this thread")
    return _values_of(saved) if saved else EMPTY


async def read_many_values(
    config: RunnableConfig, limit: int, before: RunnableConfig | None, metadata: Mapping[str, JsonValue]
) -> list[Snapshot]:
    found = _saver(config).alist(config, filter=dict(metadata) or None, before=before, limit=limit)
    return [_values_of(one) async for one in found]


def _values_of(saved: CheckpointTuple) -> Snapshot:
    values = {name: value for name, value in saved.checkpoint["channel_values"].items() if not _is_own_channel(name)}
    state = StateSnapshot(values, (), saved.config, saved.metadata, saved.checkpoint["ts"], saved.parent_config, (), ())
    return _snapshot(state)


def _is_own_channel(name: str) -> bool:
    """LangGraph's: what is to run next, and what it was called with."""
    return name.startswith(("__", "branch:", "join:"))


def _saver(config: RunnableConfig) -> BaseCheckpointSaver[Any]:
    return cast("Any", config)["configurable"][CHECKPOINTER]


async def _sends(config: RunnableConfig, state: StateSnapshot) -> Sequence[JsonValue]:
    """What the tasks that were sent to were given, by their place: LangGraph keeps it beside the state."""
    if not any(cast("Any", task).path[0] == _PUSH for task in state.tasks):
        return ()
    saved = await _saver(config).aget_tuple(state.config)
    sends: list[Any] = saved.checkpoint["channel_values"].get(_SENDS) or [] if saved else []
    return [to_json(one.arg) for one in sends if isinstance(one, Send)]


async def update(graph: Graph, config: RunnableConfig, values: JsonValue, as_node: str | None) -> str:
    try:
        written: Any = await graph.aupdate_state(config, values, as_node)
    except InterlockError:
        raise
    except Exception as error:
        # Reducers and branches are the graph's own code, and say in ways of their own that they cannot use it.
        raise InvalidInput(f"the state does not take this: {type(error).__name__}: {error}") from error
    return written["configurable"]["checkpoint_id"]


async def copy(graph: Graph, config: RunnableConfig) -> str:
    """A checkpoint of the past once more, as the newest one: its tasks are new, and nothing of theirs is on record."""
    await read(graph, config, inner=False)
    return await update(graph, config, None, _COPY)


def schemas(graph: Graph) -> GraphSchemas:
    known = cast("Any", graph)
    state = getattr(getattr(known, "builder", None), "state_schema", None)
    return GraphSchemas(
        _schema(known.get_input_jsonschema),
        _schema(known.get_output_jsonschema),
        _schema(lambda: known.get_input_schema().model_json_schema() if state is None else _of_type(state)),
        _schema(known.get_config_jsonschema),
        _schema(known.get_context_jsonschema),
    )


def inner_schemas(graph: Graph, space: str | None, *, recurse: bool) -> dict[str, GraphSchemas]:
    found = cast("Any", graph).get_subgraphs(namespace=space, recurse=recurse)
    return {name: schemas(one) for name, one in found if hasattr(one, "nodes")}


def graph_at(graph: Graph, space: str) -> Graph | None:
    """The graph that stands in this namespace; None where LangGraph knows of none."""
    found: Any = graph
    for part in space.split("|") if space else ():
        found = dict(found.get_subgraphs()).get(part.partition(":")[0])
        if not hasattr(found, "nodes"):
            return None
    return found


def has_inner(graph: Graph) -> bool:
    return next(iter(cast("Any", graph).get_subgraphs()), None) is not None


def drawing(graph: Graph, depth: int | bool) -> dict[str, JsonValue]:
    return plain(cast("Any", graph).get_graph(xray=depth).to_json())


def _schema(make: Any) -> dict[str, JsonValue]:
    try:
        return plain(make()) or {}
    except (PydanticUserError, TypeError, ValueError, AttributeError, NameError):
        # Before Python 3.12 pydantic reads no plain `typing.TypedDict`; a type may have no schema at all.
        return {}


def _of_type(state: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(state).json_schema()


def _snapshot(state: StateSnapshot, sends: Sequence[JsonValue] = ()) -> Snapshot:
    metadata: dict[str, Any] = dict(state.metadata or {})
    configurable: dict[str, Any] = state.config.get("configurable", {})
    parent: dict[str, Any] = (state.parent_config or {}).get("configurable", {})
    return Snapshot(
        to_json(state.values),
        tuple(state.next),
        tuple(_tasks(state, sends)),
        plain({key: value for key, value in metadata.items() if not key.startswith(_OWN)}),
        state.created_at,
        # A thread that never ran has a config without one.
        configurable.get("checkpoint_id"),
        parent.get("checkpoint_id"),
        configurable.get("checkpoint_ns", ""),
        metadata.get(RUN_KEY),
    )


def _tasks(state: StateSnapshot, sends: Sequence[JsonValue]) -> Iterator[TaskState]:
    # An interrupt that was answered stays with its task until that ends.
    waiting = {one.id for one in state.interrupts}
    for task in state.tasks:
        yield TaskState(
            task.id,
            task.name,
            plain(list(cast("Any", task).path)),
            None if task.error is None else str(task.error),
            [one.id for one in task.interrupts if one.id in waiting],
            to_json(task.result),
            _space(task),
            _snapshot(task.state) if isinstance(task.state, StateSnapshot) else None,
            _sent_value(task, sends),
        )


def _sent_value(task: PregelTask, sends: Sequence[JsonValue]) -> JsonValue:
    match cast("Any", task).path:
        case (kind, int(place), *_) if kind == _PUSH and place < len(sends):
            return sends[place]
        case _:
            return ABSENT


def _space(task: PregelTask) -> str:
    config = task.state.config if isinstance(task.state, StateSnapshot) else task.state
    return (config or {}).get("configurable", {}).get("checkpoint_ns", "")


def to_json(value: Any) -> JsonValue:
    """As LangGraph's own server has it: messages with their type, everything else by its fields."""
    if isinstance(value, BaseMessage):
        return to_json(value.model_dump())
    if isinstance(value, BaseModel):
        return {name: to_json(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        given = cast("Mapping[Any, Any]", value)
        return {str(name): to_json(one) for name, one in given.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(one) for one in cast("list[Any]", value)]
    return plain(value)
