"""Where Interlock reaches into LangGraph's interrupts: by which ids a task asks, and which answer is whose.

LangGraph keeps the answers of a task as a list, and gives the first one to the first `interrupt()` of the task, and so
on. Here each is given to the ask that it was given to, wherever in the list it stands; the list only grows, so that
every ask of a task has an id of its own.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial, wraps
from inspect import iscoroutinefunction
from threading import Lock
from types import FunctionType
from typing import Any, Protocol, cast

from langchain_core.tools import BaseTool
from langgraph._internal._constants import (
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_RESUME_MAP,
    CONFIG_KEY_SCRATCHPAD,
    CONFIG_KEY_SEND,
    RESUME,
)
from langgraph._internal._runnable import RunnableCallable
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt, interrupt
from langgraph.types import _interrupt_id as _id_at  # pyright: ignore[reportPrivateUsage]

MOST_ASKS = 1_000
"""How many asks of one task are told from those of a graph inside it."""


def is_asked_by(space: str, interrupt_id: str) -> bool:
    """Whether the task with this namespace raised the interrupt itself, and no graph inside of it."""
    return any(_id_at(space, position) == interrupt_id for position in range(MOST_ASKS))


class Guard(Protocol):
    """Knows to which ask each answer of a run belongs."""

    @property
    def is_over(self) -> bool: ...

    def knows(self, interrupt_id: str) -> bool:
        """Whether somebody was asked under this id."""
        ...

    def find(self, ids: Sequence[str], taken: Collection[int], value: Any) -> int | None:
        """The position of the answer to what is asked now, among the answers of the task."""
        ...

    def record_raise(self, interrupt: Interrupt[Any], ids: Sequence[str], taken: Collection[int]) -> None:
        """There is none: somebody is asked."""
        ...


_find_guard: Callable[[], Guard | None] = lambda: None  # noqa: E731
_check_ask: Callable[[], None] = lambda: None  # noqa: E731
_original_interrupt: Any = None
_making = Lock()


class _PositionCounter:
    """Stands in for the counter that gives a task's interrupts their positions: it is told the next one."""

    def __init__(self) -> None:
        self.next = 0
        self.positions: set[int] = set()
        self.lock = Lock()

    def __call__(self) -> int:
        return self.next


class Positions:
    """The answers that the task which runs now was given, and which of them have been taken in this attempt."""

    def __init__(self) -> None:
        self._configurable = get_config().get("configurable", {})
        self._scratchpad: Any = self._configurable[CONFIG_KEY_SCRATCHPAD]
        counter = self._scratchpad.interrupt_counter
        with _making:
            if not isinstance(counter._counter, _PositionCounter):
                counter._counter = _PositionCounter()
                self._take_in()
        self._taken: _PositionCounter = counter._counter

    @property
    def lock(self) -> Lock:
        return self._taken.lock

    @property
    def taken(self) -> Collection[int]:
        return self._taken.positions

    @property
    def used_count(self) -> int:
        return sum(position < len(self._scratchpad.resume) for position in self._taken.positions)

    @property
    def unused_count(self) -> int:
        """How many of the task's answers nobody has taken yet."""
        return len(self._scratchpad.resume) - self.used_count

    def use(self, positions: Collection[int]) -> None:
        """Use up these answers: who asked for them is not run again."""
        self._taken.positions.update(positions)
        self.keep()

    def turn_to(self, position: int | None) -> None:
        """Have the next `interrupt()` take the answer at this position, or ask."""
        self._taken.next = len(self._scratchpad.resume) if position is None else position
        self._taken.positions.add(self._taken.next)

    @property
    def ids(self) -> list[str]:
        """The interrupts whose answers the task was given, by position."""
        return [self.id_at(position) for position in range(len(self._scratchpad.resume))]

    def id_at(self, position: int) -> str:
        return _id_at(self._configurable[CONFIG_KEY_CHECKPOINT_NS], position)

    def keep(self) -> None:
        """Save the answers with the task, taken or not: who asks next counts them."""
        if self._scratchpad.resume:
            self._configurable[CONFIG_KEY_SEND]([(RESUME, list(self._scratchpad.resume))])

    @property
    def has_answers(self) -> bool:
        """Whether the task has been given answers, and so is not run for the first time."""
        return bool(self._scratchpad.resume)

    def _take_in(self) -> None:
        """Put the answers in order that were sent now: LangGraph takes one at a time.

        And the first one of the task as its next one, where it is sent once more.
        """
        resume, guard = self._scratchpad.resume, _find_guard()
        sent: Any = self._configurable.get(CONFIG_KEY_RESUME_MAP) or {}
        while guard is not None and resume and not guard.knows(self.id_at(len(resume) - 1)):
            resume.pop()
        while (interrupt_id := self.id_at(len(resume))) in sent:
            resume.append(sent[interrupt_id])


def guard_interrupts(find: Callable[[], Guard | None], check: Callable[[], None]) -> None:
    """Have every `interrupt()` of a hosted run given its own answer, and not the one at its position.

    `check` raises where an ask could never be answered.
    Graphs and libraries import the function by name, so its code is replaced and not the name.
    """
    global _find_guard, _check_ask, _original_interrupt
    _find_guard, _check_ask = find, check
    if _original_interrupt is None:
        function = cast("FunctionType", interrupt)
        _original_interrupt = FunctionType(function.__code__, function.__globals__, function.__name__)
        _original_interrupt.__kwdefaults__ = function.__kwdefaults__
        function.__code__ = _interrupt_entry.__code__


def _interrupt_entry(value: Any, *, response_schema: Any = None) -> Any:
    from interlock.agents._langgraph_asks import interrupt_with_guard

    return interrupt_with_guard(value, response_schema)


def interrupt_with_guard(value: Any, response_schema: Any) -> Any:
    _check_ask()
    guard = _find_guard()
    if guard is None:
        return _original_interrupt(value, response_schema=response_schema)
    if guard.is_over:
        raise GraphInterrupt(())
    positions = Positions()
    with positions.lock:
        ids, taken = positions.ids, set(positions.taken)
        positions.turn_to(guard.find(ids, taken, value))
        try:
            return _original_interrupt(value, response_schema=response_schema)
        except GraphInterrupt as error:
            for one in error.args[0]:
                guard.record_raise(one, ids, taken)
            raise
        finally:
            positions.keep()


def unwrap_groups(as_one: Callable[..., Exception]) -> None:
    """Have a node and a tool raise what an exception group of theirs says, before anybody takes it for a failure."""
    for runner, methods, is_tool in (
        (RunnableCallable, ("invoke", "ainvoke"), False),
        (BaseTool, ("run", "arun"), True),
    ):
        for method in methods:
            original = getattr(runner, method)
            if not getattr(original, "interlock", False):
                wrap = _wrap_async if iscoroutinefunction(original) else _wrap_sync
                setattr(runner, method, wrap(original, partial(as_one, is_tool=is_tool)))


def _wrap_sync(original: Callable[..., Any], as_one: Callable[[Any], Exception]) -> Any:
    @wraps(original)
    def run(*args: Any, **given: Any) -> Any:
        try:
            return original(*args, **given)
        except ExceptionGroup as group:
            raise as_one(group) from None

    cast("Any", run).interlock = True
    return run


def _wrap_async(original: Callable[..., Any], as_one: Callable[[Any], Exception]) -> Any:
    @wraps(original)
    async def run(*args: Any, **given: Any) -> Any:
        try:
            return await original(*args, **given)
        except ExceptionGroup as group:
            raise as_one(group) from None

    cast("Any", run).interlock = True
    return run
