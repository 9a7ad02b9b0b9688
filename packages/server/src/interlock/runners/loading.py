"""Hosted agents: from the text `NAME=package.module:attr` or `NAME=path/to/file.py:attr` to a graph that can be run."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, cast, get_type_hints

from langchain_core.tools import BaseTool
from langgraph.graph.state import StateGraph
from langgraph.prebuilt.tool_node import ToolNode
from langgraph.pregel import Pregel
from pydantic import PydanticUserError

from interlock.agents._langgraph import NS_SEP
from interlock.agents.tool_definition import definition_of, described
from interlock.domain.canonical import digest
from interlock.domain.errors import InvalidInput
from interlock.domain.request import RequestKind
from interlock.domain.showing import FileBehind
from interlock.runners.arguments import Schema, schema_of
from interlock.runners.gates import GateWithoutTool, check_gates
from interlock.runners.traces import own_place, own_trace
from interlock.services.requesting import Asked

Graph = Pregel[Any, Any, Any, Any]


class Preview(Protocol):
    def behind(self, tool: str, args: Mapping[str, Any]) -> FileBehind | None: ...


@dataclass(frozen=True, slots=True)
class HostedAgent:
    name: str
    graph: Graph
    tool_nodes: frozenset[str]
    """The nodes that run tools: what is said inside them, by a subagent, is not the agent's own voice."""
    input: Mapping[str, Any]
    """The properties of what the graph takes, by name; taken once, since LangGraph makes them anew each time."""
    definitions: Mapping[str, str] = field(default_factory=dict[str, str])
    """By tool, the digest of how it is described to the model."""
    definitions_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The same for each graph apart, by its path: permissions are bound to the tool of the graph that asked."""
    parameters: Mapping[str, Sequence[Schema]] = field(default_factory=dict[str, Sequence[Schema]])
    """By tool, what its arguments have to be; several where tools share a name."""
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    preview: Preview | None = None
    """Shows what a call would do to a file, where the agent's files are within reach."""

    def bound(self, asked: Asked, graph: str | None) -> Asked:
        """The ask, with what the approval of a tool of that graph may be remembered by.

        Another graph may have another tool of that name: where it is not known which one asked, nothing is remembered.
        """
        if asked.kind is not RequestKind.APPROVAL:
            return asked
        known = None if graph is None else self.definitions_in.get(graph, {}).get(asked.body["tool_name"])
        # What the agent does without a tool of its own is not among "all tools", of which the digest is made.
        toolset = digest(dict(self.definitions)) if known else None
        return replace(asked, definition=asked.definition or known, toolset=toolset)


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
        module = _module(where)
    except (Exception, SystemExit) as error:
        raise AgentNotLoaded(f"agent {name!r}: {where} cannot be loaded: {_told(error)}", error) from error
    if not hasattr(module, attr):
        raise AgentNotLoaded(f"agent {name!r}: {where} has no {attr!r}")
    try:
        found = getattr(module, attr)
        if not isinstance(found, Pregel | StateGraph) and callable(found):
            found = found()
            if inspect.isawaitable(found):
                found = await found
    except (Exception, SystemExit) as error:
        raise AgentNotLoaded(f"agent {name!r}: {attr}() failed: {_told(error)}", error) from error
    return hosted(name, found)


def _told(error: BaseException) -> str:
    # That of a syntax error repeats the place.
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"


def hosted(name: str, found: Any, preview: Preview | None = None) -> HostedAgent:
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
    definitions, parameters = _definitions(known)
    descriptions = {tool.name: tool.description for tool in _tools(known)}
    definitions_in = {path: _by_name(_own_tools(one)) for path, one in _known_graphs(known)}
    return HostedAgent(
        name, known, tool_nodes, _input_fields(known), definitions, definitions_in, parameters, descriptions, preview
    )


def _definitions(graph: Graph) -> tuple[Mapping[str, str], Mapping[str, Sequence[Schema]]]:
    """Of every tool in the graph and its subgraphs. Two tools of one name count as one that has both definitions."""
    parameters: dict[str, list[Schema]] = {}
    for tool in _tools(graph):
        parameters.setdefault(tool.name, []).append(schema_of(tool, described(tool)))
    return _by_name(_tools(graph)), parameters


def _by_name(tools: Iterable[BaseTool]) -> dict[str, str]:
    found: dict[str, list[BaseTool]] = {}
    for tool in tools:
        found.setdefault(tool.name, []).append(tool)
    return {name: definition_of(same) for name, same in found.items()}


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


def _input_fields(graph: Graph) -> Mapping[str, Any]:
    """The fields of the graph's input, as JSON Schema describes each."""
    try:
        return graph.get_input_jsonschema().get("properties") or {}
    except PydanticUserError:
        # Before Python 3.12 pydantic reads no plain `typing.TypedDict`, which is what most states are.
        hints = get_type_hints(cast("Any", graph).builder.input_schema)
        return {name: {"type": "string"} if hint is str else {} for name, hint in hints.items()}


def _module(where: str) -> ModuleType:
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
