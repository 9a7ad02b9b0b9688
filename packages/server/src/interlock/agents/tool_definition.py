"""What a tool is known again by: its place, how it is described to a model, and the code that it runs."""

import inspect
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, cast

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from interlock.domain.canonical import digest


def definition_of(tool: BaseTool, graph: str = "") -> str:
    """The digest by which a remembered permission is bound to it: the same after a restart, another for a look-alike.

    `graph` is the path of the graph that has the tool.
    """
    own: list[Any] = [getattr(tool, "func", None), getattr(tool, "coroutine", None)]
    kind: Any = type(tool)
    codes = [one for one in own if one is not None] or [kind._run, kind._arun]
    identity = [f"{kind.__module__}.{kind.__qualname__}", *(_identity(one) for one in codes)]
    return digest({"graph": graph, "described": description_of(tool), "code": identity})


def description_of(tool: BaseTool) -> dict[str, Any]:
    return convert_to_openai_tool(tool)


def _identity(code: Callable[..., Any]) -> dict[str, Any]:
    code = inspect.unwrap(code)
    identity = {
        "module": getattr(code, "__module__", ""),
        "name": getattr(code, "__qualname__", type(code).__qualname__),
    }
    return {**identity, "does": _does(getattr(code, "__code__", None)), "closed_over": _closure_values(code)}


def _does(code: CodeType | None) -> list[Any]:
    """What the code does. Not its source, which is the same for two functions that stand on one line."""
    if code is None:
        return []
    return [code.co_code.hex(), list(code.co_names), [_const(one) for one in code.co_consts]]


def _const(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _does(value)
    # A set is in another order each time the process starts.
    return sorted(map(repr, cast("frozenset[Any]", value))) if isinstance(value, frozenset) else repr(value)


def _closure_values(code: Any) -> Mapping[str, Any]:
    """What tells functions apart that one function made: plain values by themselves, objects by their types, since
    nothing else of them is the same after a restart."""
    try:
        values = inspect.getclosurevars(code).nonlocals
    except (TypeError, ValueError):
        return {}
    return {
        name: value if isinstance(value, str | int | float | None) else _kind(value) for name, value in values.items()
    }


def _kind(value: Any) -> str:
    is_named = inspect.isroutine(value) or inspect.isclass(value)
    kind = cast("Any", value if is_named else value.__class__)
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"
