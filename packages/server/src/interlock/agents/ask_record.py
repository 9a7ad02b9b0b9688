"""What is asked in one attempt of a graph, and to which asks its answers belong."""

import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from langgraph.types import Interrupt

from interlock.domain.ask_binding import AskBinding
from interlock.domain.canonical import digest, plain
from interlock.domain.effect import EffectKey

effects_around: ContextVar[tuple[EffectKey, ...]] = ContextVar("interlock_effects", default=())
"""The effects inside of which the code runs, the outermost first."""
_INSIDE = " > "
_OWN = ("interlock.agents.", "interlock.ask", "langgraph.types")


class AskRecord:
    """The `Guard` of a hosted run's interrupts."""

    def __init__(self, answered: Mapping[str, AskBinding | None] | None = None) -> None:
        self._answered = answered or {}
        """By interrupt id, what was asked in this turn; None where a version before this one asked."""
        self._raised: dict[str, list[AskBinding]] = {}
        self.dropped: set[str] = set()
        """Interrupts that ask anew under an id that was answered already."""

    def owns(self, interrupt_id: str, value: Any, others: Sequence[str]) -> bool:
        if interrupt_id not in self._answered:
            # LangGraph takes the answer to a task's first interrupt for its next one, where it is sent once more.
            return False
        ask = self._answered[interrupt_id]
        known = [binding for one in others if (binding := self._answered.get(one))]
        return ask is None or _binding(value).owns_answer_of(ask, known)

    def drop(self, interrupt_id: str) -> None:
        self.dropped.add(interrupt_id)

    def raised(self, interrupt: Interrupt[Any]) -> None:
        self._raised.setdefault(interrupt.id, []).append(_binding(interrupt.value))

    def unheard(self, key: EffectKey) -> None:
        """What was asked inside this effect is not heard: an earlier call of its task asked as well."""
        for interrupt_id, bindings in self._raised.items():
            self._raised[interrupt_id] = [one for one in bindings if _name(key) not in (one.asker or "").split(_INSIDE)]

    def binding(self, interrupt: Interrupt[Any]) -> AskBinding:
        """To what the answer of a pending interrupt will belong."""
        raised = self._raised.get(interrupt.id, [])
        if len(raised) == 1:
            # As it was asked: the saver may give it back otherwise, an error as its text, a set in another order.
            return raised[0]
        value = _digest(interrupt.value)
        same = [one for one in raised if one.value == value]
        return AskBinding(same[0].asker if len(same) == 1 else None, value, alone=False)


def _binding(value: Any) -> AskBinding:
    return AskBinding(_INSIDE.join(_name(key) for key in effects_around.get()), _digest(value), _site())


def _site() -> str:
    """The line that asks: the nearest one that is neither ours nor LangGraph's."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame = frame.f_back
    return f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname}:{frame.f_lineno}"


def _name(key: EffectKey) -> str:
    return f"{key.task_id}/{key.call_id}"


def _digest(value: Any) -> str:
    return digest(plain(value))
