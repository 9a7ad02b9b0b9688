"""`@requires_approval`: a function that a person has to allow, each time that it is called."""

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from interlock_client._annotations import parameter_schema
from interlock_client.answers import Approval
from interlock_client.errors import InvalidInput, Refused
from interlock_client.hitl import Risk

if TYPE_CHECKING:
    from interlock_client.client import Interlock
    from interlock_client.sync import SyncInterlock

P = ParamSpec("P")
T = TypeVar("T")

ALLOWED = ("accept", "edit", "reject")

_VARIADIC: Mapping[Any, type] = {inspect.Parameter.VAR_POSITIONAL: list, inspect.Parameter.VAR_KEYWORD: dict}


def requires_approval(
    *,
    client: "Interlock | SyncInterlock",
    risk_level: Risk | None = None,
    description: str | None = None,
    name: str | None = None,
    timeout: float | None = 300.0,
    allow_remember: bool = True,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Ask before each call, with its arguments as they are shown; `Refused` when the answer is no.

    What runs is what was approved: the arguments as they were when it was asked, or the person's edit. `NotAnswered`
    when nobody decided. An async function needs `Interlock`, a plain one `SyncInterlock`.
    """

    fixed_options: dict[str, Any] = {"risk_level": risk_level, "allow_remember": allow_remember, "timeout": timeout}

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        guarded = _GuardedFunction(function, name or function.__name__)
        described = _description(function) if description is None else description
        options: dict[str, Any] = {
            **fixed_options,
            "description": described,
            "allowed": ALLOWED,
            "tool_schema": guarded.schema,
        }
        _check_fits(function, client)

        @wraps(function)
        async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
            call = guarded.bind(args, kwargs)
            approval = await cast("Interlock", client).ask_approval(
                guarded.name, call.display_args, **options, fixed=call.fixed
            )
            return await call.run(approval)

        @wraps(function)
        def now(*args: P.args, **kwargs: P.kwargs) -> T:
            call = guarded.bind(args, kwargs)
            approval = cast("SyncInterlock", client).ask_approval(
                guarded.name, call.display_args, **options, fixed=call.fixed
            )
            return cast("T", call.run(approval))

        return cast("Callable[P, T]", later) if inspect.iscoroutinefunction(function) else now

    return decorate


class _GuardedFunction:
    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        self.signature = _signature(function)

    @property
    def schema(self) -> dict[str, Any]:
        """What edits are held against, and what a remembered permission is bound to: with other parameters it is
        another tool. A call shows all of its arguments, and so has an edit to."""
        parameters = self.signature.parameters.values()
        properties = {one.name: {"description": str(one), **parameter_schema(one)} for one in parameters}
        closed: dict[str, Any] = {"required": list(properties), "additionalProperties": False}
        return {"type": "object", "properties": properties, **closed}

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "_Call":
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _Call(self, bound)


class _Call:
    """One call, as it was when it was asked about: what changes its arguments meanwhile changes nothing here."""

    def __init__(self, guarded: _GuardedFunction, bound: inspect.BoundArguments) -> None:
        self._function = guarded
        self._arguments = {name: copy.deepcopy(one) if _is_plain(one) else one for name, one in bound.arguments.items()}
        self.display_args = {name: _display(value) for name, value in self._arguments.items()}
        self.fixed = [name for name, one in self._arguments.items() if not _is_plain(one)]
        """Objects of the program, which nobody can edit."""

    def run(self, approval: Approval) -> Any:
        if not approval.granted:
            raise Refused(self._function.name, approval.message)
        arguments = self._arguments if approval.decision == "accept" else self._check_edit(approval.args)
        bound = inspect.BoundArguments(self._function.signature, cast("Any", arguments))
        return self._function.function(*bound.args, **bound.kwargs)

    def _check_edit(self, args: Mapping[str, Any]) -> dict[str, Any]:
        if args.keys() != self._arguments.keys():
            raise InvalidInput(f"the edit has other arguments than {self._function.name}: {', '.join(sorted(args))}")
        return {name: self._one(name, args[name]) for name in self._arguments}

    def _one(self, name: str, value: Any) -> Any:
        if value == self.display_args[name]:
            return self._arguments[name]
        if not _is_plain(self._arguments[name]):
            raise InvalidInput(f"the edit changes {name}, which is an object of the program")
        parameter = self._function.signature.parameters[name]
        container = _VARIADIC.get(parameter.kind)
        if container is not None and not isinstance(value, container):
            raise InvalidInput(f"the edit makes {name} something else than a {container.__name__}")
        # JSON has lists only.
        if isinstance(self._arguments[name], tuple) and isinstance(value, list):
            return tuple(cast("list[Any]", value))
        return value


def _check_fits(function: Callable[..., Any], client: "Interlock | SyncInterlock") -> None:
    if inspect.iscoroutinefunction(function) != inspect.iscoroutinefunction(client.ask_approval):
        raise TypeError("an async function needs a client Interlock, a plain function a SyncInterlock")


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:
        # An annotation that names something which is not there at run time says nothing.
        return inspect.signature(function)


def _description(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _display(value: Any) -> Any:
    """As JSON says it; what JSON cannot say, in Python's words."""
    if not _is_plain(value):
        return repr(value)
    if isinstance(value, dict):
        return {name: _display(one) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_display(one) for one in cast("list[Any]", value)]
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, Enum):
        # Also one that is a text: the program compares it as what it is, and an edit would be another.
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(one) for name, one in cast("dict[Any, Any]", value).items())
    if isinstance(value, list | tuple):
        return all(_is_plain(one) for one in cast("list[Any]", value))
    return value is None or isinstance(value, str | int)
