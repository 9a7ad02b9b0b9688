"""What is asked in one attempt of a graph, and to which asks its answers belong."""

import sys
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast

from langgraph.types import Interrupt

from interlock.agents._langgraph import graph_space
from interlock.domain.ask_binding import INSIDE, AskBinding, changes_of, own_answer
from interlock.domain.canonical import digest, plain
from interlock.domain.effect import EffectKey
from interlock.domain.errors import InterlockError

ASK = "interlock"
"""The key by which the runner knows an interrupt value as an ask of Interlock's own."""
MOST_CHANGES = 3
"""How often in a row a place may change its words after it was answered, before the run fails."""

effects_around: ContextVar[tuple[EffectKey, ...]] = ContextVar("interlock_effects", default=())
"""The effects inside of which the code runs, the outermost first."""
actions_around: ContextVar[tuple[str, ...]] = ContextVar("interlock_actions", default=())
"""The digests of their tools and arguments."""
_OWN = ("interlock.agents.", "interlock.ask", "langgraph.types")
_RUNS_NODES = ("interlock.agents.", "langgraph.", "langchain_core.runnables.config")
_RUNS_TOOLS = "langchain_core.tools"


class QuestionKeepsChanging(InterlockError):
    """A place that asks in other words each time it has been answered, and so can never be."""

    code = "words_keep_changing"

    def __init__(self, site: str) -> None:
        super().__init__(
            f"the question at {site} has been worded anew {MOST_CHANGES} times in a row after it was answered, and an "
            "answer is only for the words that it was given to. Make the words once: in a node or task before the one "
            "that asks, or by interlock.effect, which keeps its result"
        )


class AskRecord:
    """The `Guard` of a hosted run's interrupts."""

    def __init__(self, answered: Mapping[str, AskBinding | None] | None = None) -> None:
        self._answered = answered or {}
        """By interrupt id, what was asked in this turn."""
        self._raised: dict[str, list[tuple[Interrupt[Any], AskBinding]]] = {}
        self.is_over = False
        """Whether the attempt has ended: code of it that still runs beside is given no answer any more."""

    def knows(self, interrupt_id: str) -> bool:
        return interrupt_id in self._answered

    def find(self, ids: Sequence[str], taken: Collection[int], value: Any) -> int | None:
        ask, _ = _binding(value)
        return own_answer(ask, _spellings(value), [self._answered.get(one) for one in ids], taken)

    def record_raise(self, interrupt: Interrupt[Any], ids: Sequence[str], taken: Collection[int]) -> None:
        ask, in_line = _binding(interrupt.value)
        if in_line:
            ask = replace(ask, changes=changes_of(ask, [self._answered.get(one) for one in ids], taken))
        if ask.changes >= MOST_CHANGES:
            raise QuestionKeepsChanging(str(ask.site))
        self._raised.setdefault(interrupt.id, []).append((interrupt, ask))

    def rename(self, interrupt: Interrupt[Any], to: Interrupt[Any]) -> None:
        """The ask is put to a person under another id, since another one of its task has that."""
        for pair in self._raised.get(interrupt.id, []):
            if pair[0] is interrupt:
                self._raised[interrupt.id].remove(pair)
                self._raised.setdefault(to.id, []).append((to, pair[1]))
                return

    def unheard(self, key: EffectKey) -> None:
        """What was asked inside this effect is not heard: an earlier call of its task asked as well."""
        for interrupt_id, pairs in self._raised.items():
            self._raised[interrupt_id] = [pair for pair in pairs if not _is_inside(pair[1], key)]

    def positions_used_by(self, key: EffectKey, asks: int, ids: Sequence[str], taken: Collection[int]) -> list[int]:
        """The positions of the answers that an effect used up which is not entered again."""
        left = [(index, self._answered.get(one)) for index, one in enumerate(ids) if index not in taken]
        own = [index for index, ask in left if ask is not None and _is_inside(ask, key)]
        unknown = [index for index, ask in left if ask is not None and ask.asker is None]
        return own + unknown[: max(0, asks - len(own))]

    def binding(self, interrupt: Interrupt[Any]) -> AskBinding:
        """To what the answer of a pending interrupt will belong."""
        raised = [ask for _, ask in self._raised.get(interrupt.id, [])]
        if len(raised) == 1:
            # As it was asked: the saver may give it back otherwise, an error as its text, a set in another order.
            return raised[0]
        value = _spellings(interrupt.value)[0]
        same = [ask for ask in raised if ask.value == value]
        return same[0] if len({(ask.asker, ask.acts, ask.space) for ask in same}) == 1 else AskBinding(None, value)


def _binding(value: Any) -> tuple[AskBinding, bool]:
    """Who asks this, and whether one thing is asked after the other there."""
    around = effects_around.get()
    site, in_line = _where(is_tool=bool(around) and around[-1].is_tool_call)
    acts = digest(actions_around.get())
    return AskBinding(asker(), _spellings(value)[0], site, acts=acts, space=graph_space()), in_line


def asker() -> str:
    """The effects around the code that runs."""
    return INSIDE.join(_name(key) for key in effects_around.get())


def _where(*, is_tool: bool) -> tuple[str, bool]:
    """The line that asks: the nearest one that is neither ours nor LangGraph's.

    False where it was started beside the node's or tool's own code (`asyncio.gather`, a thread): then what runs nodes
    and tools is not below it. Such lines may ask in another order each time, without any of them changing its words.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and _module(frame).startswith(_OWN):
        frame = frame.f_back
    site = f"{_module(frame)}:{frame.f_code.co_qualname}:{frame.f_lineno}"
    below = frame.f_back
    while below is not None and not _module(below).startswith("asyncio."):
        if _module(below).startswith(_RUNS_TOOLS):
            return site, is_tool
        if _module(below).startswith(_RUNS_NODES):
            return site, True
        below = below.f_back
    return site, False


def _module(frame: Any) -> str:
    return frame.f_globals.get("__name__") or ""


def _is_inside(ask: AskBinding, key: EffectKey) -> bool:
    return _name(key) in (ask.asker or "").split(INSIDE)


def _name(key: EffectKey) -> str:
    return f"{key.task_id}/{key.call_id}"


def _spellings(value: Any) -> tuple[str, str]:
    """The digest of the words; and as an earlier version made it, with how long the ask waits."""
    words = plain(value)
    whole = digest(words)
    own: Any = cast("dict[str, Any]", words).get(ASK) if isinstance(words, dict) else None
    if not isinstance(own, dict):
        return whole, whole
    lasting = {key: one for key, one in cast("dict[str, Any]", own).items() if key != "timeout"}
    return digest(words | {ASK: lasting}), whole
