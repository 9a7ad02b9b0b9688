"""Hosted agents: from the text `NAME=package.module:attr` or `NAME=path/to/file.py:attr` to a graph that can be run."""

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, cast, get_type_hints

from langchain_core.tools import BaseTool
from langgraph.constants import END
from langgraph.graph.state import StateGraph
from langgraph.prebuilt.tool_node import ToolNode
from langgraph.pregel import Pregel
from pydantic import PydanticUserError, TypeAdapter

from interlock.agents._langgraph import NS_SEP, all_graphs
from interlock.agents.previews import Previewer, previewer_of
from interlock.agents.tool_definition import definition_of, description_of
from interlock.domain.canonical import digest
from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.kinds import ApprovalBody
from interlock.domain.run_input import GraphCommand, GraphInput, updates_in
from interlock.runners.arguments import Schema, errors_in, schema_of
from interlock.runners.gates import GateWithoutTool, check_gates, declared_risks
from interlock.runners.traces import own_place, own_trace
from interlock.services.requests.opening import NewRequest

Graph = Pregel[Any, Any, Any, Any]
Definitions = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class HostedAgent:
    name: str
    graph: Graph
    tool_nodes: frozenset[str]
    """The nodes that run tools: what is said inside them, by a subagent, is not the agent's own voice."""
    input: Mapping[str, Any]
    """The properties of what the graph takes, by name; taken once, since LangGraph makes them anew each time."""
    definitions: Mapping[str, Definitions] = field(default_factory=dict[str, Definitions])
    """By the path of a graph and the name of a tool, what the tool is known again by; several where tools of one graph
    share a name."""
    parameters: Mapping[str, Sequence[Schema]] = field(default_factory=dict[str, Sequence[Schema]])
    """By tool, what its arguments have to be; several where tools share a name."""
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    previewers: Mapping[str, Previewer] = field(default_factory=dict[str, Previewer])
    """By tool, what shows what a call of it would do."""
    previewers_in: Mapping[str, Mapping[str, Previewer]] = field(default_factory=dict[str, Mapping[str, Previewer]])
    """The same for each graph apart, by its path."""
    input_schema: Schema = field(default_factory=dict[str, Any])
    """What an input may be."""
    risks: Mapping[str, str] = field(default_factory=dict[str, str])
    """By tool, how risky the agent says that its calls are."""

    @property
    def has_messages(self) -> bool:
        """Whether its state is a conversation, beside whatever else it is."""
        return "messages" in cast("Any", self.graph).channels

    def check_input(self, given: GraphInput) -> None:
        settings = given.settings
        stops = {"interrupt_before": settings.interrupt_before, "interrupt_after": settings.interrupt_after}
        errors = [
            FieldError(name, "unknown", f"{name}: there is no node {node!r}; known: {', '.join(self._node_names)}")
            for name, nodes in stops.items()
            for node in (() if nodes == "*" else nodes)
            if node not in self._node_names
        ]
        if given.command is None:
            errors += _errors_of(self.input_schema, given.values)
        else:
            errors += self._errors_of_command(given.command)
        if errors:
            raise InvalidInput("; ".join(error.message for error in errors), errors)

    def _errors_of_command(self, command: GraphCommand) -> list[FieldError]:
        """LangGraph drops nodes that it does not know, and updates of another form, without a word."""
        names = [one if isinstance(one, str) else one.node for one in command.goto]
        errors = [
            FieldError("goto", "unknown", f"goto: there is no node {name!r}; known: {', '.join(self._node_names)}")
            for name in names
            if name not in (*self._node_names, END)
        ]
        has_fields = "__root__" not in cast("Any", self.graph).channels
        if has_fields and command.update is not None and updates_in(command.update) is None:
            errors.append(FieldError("update", "form", "update must be an object, or a list of [name, value]"))
        return errors

    @property
    def _node_names(self) -> Sequence[str]:
        return [name for name in self.graph.nodes if not name.startswith("__")]

    def previewer(self, tool: str, graph: str | None = None) -> Previewer | None:
        """Of the tool of that graph; where it is not known which graph asks, of the only one of that name."""
        return self.previewers_in.get(graph, {}).get(tool) if graph is not None else self.previewers.get(tool)

    def bind(self, request: NewRequest, graph: str | None) -> NewRequest:
        """The ask, with what the approval of a tool of that graph may be remembered by.

        Another graph may have another tool of that name, described alike, even of the same code: where it is not known
        which one asked nothing is remembered, whatever the ask says of its tool.
        """
        if not isinstance(request.body, ApprovalBody):
            return request
        known = () if graph is None else self.definitions.get(graph, {}).get(request.body.tool_name, ())
        if len(known) != 1:
            # What the agent does without a tool of its own is not among "all tools" either.
            return replace(request, definition=None, toolset=None)
        return replace(request, definition=digest([*known, request.definition]), toolset=digest(self.definitions))


class AgentNotLoaded(InvalidInput):
    code = "agent_not_loaded"

    def __init__(self, message: str, error: BaseException | None = None) -> None:
        """`error` is what the agent's own code raised: the place is told, and the way there in `notes`."""
        place = own_place(error) if error else None
        super().__init__(f"{message} ({place})" if place else message)
        self.notes = own_trace(error) if place and error else ""


async def load_agents(specs: Sequence[str]) -> list[HostedAgent]:
    agents: list[HostedAgent] = []
    for spec in specs:
        name, _, target = spec.partition("=")
        if not name or ":" not in target:
            raise AgentNotLoaded(f"{spec!r}: an agent is NAME=package.module:attr or NAME=path/to/file.py:attr")
        if name in [agent.name for agent in agents]:
            raise AgentNotLoaded(f"two agents are called {name!r}")
        agents.append(await load_agent(name, target))
    return agents


async def load_agent(name: str, target: str) -> HostedAgent:
    where, _, attr = target.rpartition(":")
    try:
        module = load_module(where)
    except (Exception, SystemExit) as error:
        raise AgentNotLoaded(f"agent {name!r}: {where} cannot be loaded: {_error_text(error)}", error) from error
    if not hasattr(module, attr):
        raise AgentNotLoaded(f"agent {name!r}: {where} has no {attr!r}")
    try:
        found = getattr(module, attr)
        if not isinstance(found, Pregel | StateGraph) and callable(found):
            found = found()
            if inspect.isawaitable(found):
                found = await found
    except (Exception, SystemExit) as error:
        raise AgentNotLoaded(f"agent {name!r}: {attr}() failed: {_error_text(error)}", error) from error
    return host_agent(name, found)


def _error_text(error: BaseException) -> str:
    # That of a syntax error repeats the place.
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"


def host_agent(name: str, found: Any) -> HostedAgent:
    try:
        graph: Any = cast("Any", found).compile() if isinstance(found, StateGraph) else found
    except ValueError as error:
        raise AgentNotLoaded(f"agent {name!r} cannot be compiled: {error}") from error
    if not isinstance(graph, Pregel):
        raise AgentNotLoaded(
            f"agent {name!r} is a {type(graph).__name__}: it must be a LangGraph graph, or a function that returns one"
        )
    known = cast("Graph", graph)
    if cast("Any", known).checkpointer is False:
        raise AgentNotLoaded(f"agent {name!r} was compiled with checkpointer=False, so it cannot pause")
    try:
        check_gates(known)
    except GateWithoutTool as error:
        raise AgentNotLoaded(f"agent {name!r}: {error}") from error
    tool_nodes = frozenset(key for key, node in known.nodes.items() if isinstance(node.bound, ToolNode))
    definitions = {path: _by_name(path, _own_tools(one)) for path, one in _known_graphs(known)}
    descriptions = {tool.name: tool.description for tool in _tools(known)}
    previewers = _previewers(tool for one in all_graphs(known) for tool in _own_tools(one))
    previewers_in = {path: _previewers(_own_tools(one)) for path, one in _known_graphs(known)}
    schema = _own_input_schema(known)
    return HostedAgent(
        name,
        known,
        tool_nodes,
        _input_fields(known, schema),
        definitions,
        _parameters(known),
        descriptions,
        previewers,
        previewers_in,
        _input_schema(known, schema),
        declared_risks(known),
    )


def _previewers(tools: Iterable[BaseTool]) -> dict[str, Previewer]:
    """By name, where all tools of that name are shown alike: what another one would do is never shown."""
    found: dict[str, dict[Any, Previewer | None]] = {}
    for tool in tools:
        previewer = previewer_of(tool)
        found.setdefault(tool.name, {})[previewer and _identity(previewer)] = previewer
    alike = {name: next(iter(each.values())) for name, each in found.items() if len(each) == 1}
    return {name: previewer for name, previewer in alike.items() if previewer is not None}


def _identity(previewer: Previewer) -> tuple[int, ...]:
    partial_call = cast("partial[Any]", previewer)
    return (id(partial_call.func), *(id(one) for one in partial_call.args))


def _parameters(graph: Graph) -> Mapping[str, Sequence[Schema]]:
    """Of every tool in the graph and its subgraphs."""
    parameters: dict[str, list[Schema]] = {}
    for tool in _tools(graph):
        parameters.setdefault(tool.name, []).append(schema_of(tool, description_of(tool)))
    return parameters


def _by_name(path: str, tools: Iterable[BaseTool]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tool in {id(tool): tool for tool in tools}.values():
        found.setdefault(tool.name, []).append(definition_of(tool, path))
    return found


def _tools(graph: Graph) -> Iterator[BaseTool]:
    inner = [cast("Graph", one) for _, one in cast("Any", graph).get_subgraphs(recurse=True) if hasattr(one, "nodes")]
    for one in [graph, *inner]:
        yield from _own_tools(one)


def _own_tools(graph: Graph) -> Iterator[BaseTool]:
    for node in graph.nodes.values():
        if isinstance(node.bound, ToolNode):
            yield from node.bound.tools_by_name.values()


def _known_graphs(graph: Graph, path: str = "") -> Iterator[tuple[str, Graph]]:
    """The graph and those that stand in it as nodes, by path. What a function calls may be another one each time."""
    yield path, graph
    for name, node in graph.nodes.items():
        inner: Any = node.bound
        if isinstance(inner, Pregel):
            yield from _known_graphs(cast("Graph", inner), f"{path}{NS_SEP}{name}" if path else name)


def _own_input_schema(graph: Graph) -> dict[str, Any] | None:
    """What the graph says of its input. To describe all kinds of messages takes long: once is enough."""
    try:
        return graph.get_input_jsonschema()
    except PydanticUserError:
        # Before Python 3.12 pydantic reads no plain `typing.TypedDict`, which is what most states are.
        return None


def _input_fields(graph: Graph, own: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The fields of the graph's input, as JSON Schema describes each."""
    if own is not None:
        return own.get("properties") or {}
    hints = get_type_hints(cast("Any", graph).builder.input_schema)
    return {name: {"type": "string"} if hint is str else {} for name, hint in hints.items()}


def _input_schema(graph: Graph, own: dict[str, Any] | None) -> Schema:
    """Of any input: no field has to be there, for the state may have it; messages come in many forms."""
    schema = own
    if schema is None:
        schema = _schema_of_hints(get_type_hints(cast("Any", graph).builder.input_schema, include_extras=True))
    properties: dict[str, Any] = schema.get("properties") or {}
    if not properties:
        return schema
    fields = {name: dict[str, Any]() if _has_messages(part) else part for name, part in properties.items()}
    without_required = {key: value for key, value in schema.items() if key != "required"}
    return {**without_required, "properties": fields, "additionalProperties": False}


def _schema_of_hints(hints: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for name, hint in hints.items():
        try:
            fields[name] = TypeAdapter(hint).json_schema()
        except PydanticUserError:
            fields[name] = {}
        definitions |= fields[name].pop("$defs", {})
    return {"type": "object", "properties": fields, "$defs": definitions}


def _has_messages(schema: Any) -> bool:
    text = json.dumps(schema)
    return any(f'"#/$defs/{name}"' in text for name in ("HumanMessage", "BaseMessage"))


def _errors_of(schema: Schema, values: Any) -> list[FieldError]:
    properties = schema.get("properties")
    if values is None or (properties and values == {}):
        names = f": an object with {', '.join(properties)}" if properties else ""
        return [FieldError("input", "missing", f"input must have something in it{names}")]
    return errors_in(schema, values, "input")


def load_module(where: str) -> ModuleType:
    path = Path(where)
    if path.suffix != ".py":
        if "" not in sys.path:
            sys.path.insert(0, "")
        return importlib.import_module(where)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {where}")
    # Its own folder, so that a file may import its neighbours as `python file.py` lets it.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{where} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
