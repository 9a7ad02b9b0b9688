"""The gates of an agent, held against its tools: a gate on a name that no tool has closes nothing.

That is done when the agent is loaded, for all graphs that are found in it; for those that are not, such as one that a
node makes when it runs, when a run enters them.
"""

import logging
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast
from weakref import WeakSet

from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, InterruptOnConfig
from langgraph.prebuilt.tool_node import ToolNode

from interlock.agents._langgraph import Graph, all_graphs, middleware_around, tool_nodes
from interlock.agents._langgraph_entry import check_on_entry
from interlock.agents.middleware import InterlockMiddleware, nearest
from interlock.domain.risk import RISK_LEVELS

logger = logging.getLogger("interlock.agents")

Middleware = AgentMiddleware[Any, Any, Any]

_SHIPPED = ("interlock", "langchain", "deepagents")
"""Packages whose middleware brings its tools when it is made, and none later."""
_DECISIONS = ("approve", "edit", "reject", "respond")
_ALMOST = 0.7
"""How like a known name another one is that is taken for a misspelling of it: `wen` is, `whenever` is not."""
_checked: WeakSet[ToolNode] = WeakSet()
"""The nodes whose gates are right. Not the graphs: `with_config` makes another one of the same nodes each time."""


class GateWithoutTool(ValueError):
    """A gate that would not close: the call would run unasked."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Tools of one node, and the middleware around them."""

    tools: Set[str]
    middleware: tuple[Middleware, ...]

    @property
    def may_get_tools_later(self) -> bool:
        return not all(_is_shipped(type(one)) for one in self.middleware)

    def named_tools(self) -> Iterator[tuple[Middleware, str, str]]:
        """The middleware, the argument, and the tool that it names."""
        for one in self.middleware:
            if isinstance(one, InterlockMiddleware):
                yield from ((one, "interrupt_on", tool) for tool in one.gates)
                yield from ((one, "idempotent", tool) for tool in one.idempotent)
            elif isinstance(one, HumanInTheLoopMiddleware):
                known = cast("Mapping[str, Any]", cast("Any", one).interrupt_on)
                yield from ((one, "interrupt_on", tool) for tool, gate in known.items() if not _is_made_for_all(gate))


def watch_gates() -> None:
    """Have a hosted run fail before it enters a graph with a gate that names no tool."""
    check_on_entry(_check_entered)


def _check_entered(graph: Graph) -> None:
    if not all(node in _checked for node in tool_nodes(graph)):
        check_gates(graph)


def check_gates(graph: Graph) -> None:
    """Raise where a gate names no tool, with the name that was probably meant.

    Agents share their gates: a subagent of deepagents takes those of the agent above it. So a name is right when it
    gates a tool anywhere.
    """
    nodes = [node for one in all_graphs(graph) for node in tool_nodes(one)]
    places = [_Place(node.tools_by_name.keys(), tuple(middleware_around(node))) for node in nodes]
    _check_options(places)
    effective = {
        (argument, tool) for place in places for _, argument, tool in place.named_tools() if tool in place.tools
    }
    everywhere = frozenset[str]().union(*(place.tools for place in places))
    for place in places:
        for middleware, argument, tool in place.named_tools():
            if (argument, tool) not in effective:
                _refuse(place, middleware, argument, tool, everywhere)
    _checked.update(nodes)


def declared_risks(graph: Graph) -> dict[str, str]:
    """How risky the gates say that calls are, by tool; the highest, where tools of one name have several gates."""
    nodes = (node for one in all_graphs(graph) for node in tool_nodes(one))
    found: dict[str, str] = {}
    for one in (one for node in nodes for one in middleware_around(node) if isinstance(one, InterlockMiddleware)):
        for tool, gate in one.gates.items():
            if level := gate.get("risk_level"):
                found[tool] = max(found.get(tool, level), level, key=RISK_LEVELS.index)
    return found


def _refuse(place: _Place, middleware: Middleware, argument: str, tool: str, everywhere: Set[str]) -> None:
    if tool in everywhere:
        raise GateWithoutTool(
            f"{argument} names {tool!r}, which is a tool of another graph than the one that the middleware is given "
            "to; give it to the agent that has the tool"
        )
    gated = {name for _, _, name in place.named_tools()}
    message = f"{argument} names {tool!r}, and the agent has no such tool"
    if not place.may_get_tools_later or get_close_matches(tool, everywhere - gated, n=1):
        raise GateWithoutTool(message + nearest(tool, everywhere))
    logger.warning("%s yet: nothing is asked until one of that name comes while it runs", message)
    if isinstance(middleware, InterlockMiddleware):
        middleware.unmatched |= {tool}


def _check_options(places: list[_Place]) -> None:
    """Those of LangChain's gates, and of classes made from them; Interlock's checks its own when it is made."""
    for one in (one for place in places for one in place.middleware if isinstance(one, HumanInTheLoopMiddleware)):
        is_own = type(one) is not HumanInTheLoopMiddleware
        for tool, gate in cast("Mapping[str, Mapping[str, Any]]", cast("Any", one).interrupt_on).items():
            none = f"interrupt_on[{tool!r}]: there is no"
            _check_known(f"{none} option", gate, InterruptOnConfig.__annotations__, is_own=is_own)
            _check_known(f"{none} decision", gate.get("allowed_decisions", ()), _DECISIONS, is_own=is_own)


def _check_known(message: str, given: Iterable[str], known: Collection[str], *, is_own: bool) -> None:
    """A class of somebody's own may know more; what is almost a name of LangChain's is a typo there too."""
    for name in given:
        if name in known:
            continue
        if not is_own or get_close_matches(name, known, n=1, cutoff=_ALMOST):
            raise GateWithoutTool(f"{message} {name!r}{nearest(name, known)}")
        logger.warning("%s %r of LangChain's: the gate's own class has to know it", message, name)


def _is_made_for_all(gate: Mapping[str, Any]) -> bool:
    """deepagents makes gates from file permissions, for all of its file tools, whether the agent has them or not."""
    return str(getattr(gate.get("when"), "__module__", "")).startswith("deepagents.")


def _is_shipped(kind: type) -> bool:
    """Whether it is a class of those packages, and not one that their decorators make of somebody's function."""
    module = sys.modules.get(kind.__module__)
    return kind.__module__.partition(".")[0] in _SHIPPED and getattr(module, kind.__qualname__, None) is kind
