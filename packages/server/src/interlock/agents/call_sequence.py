"""The graphs that code calls one after the other, and which of them a call goes on with when the code is run again.

By number alone, the second graph would go on with the state of the first, and with its answer, once the first is left
out: since its result is on record, or since what it was about is gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from interlock.agents.asking import ask_body
from interlock.domain.canonical import canonical_json, plain
from interlock.domain.kinds import DecisionBody
from interlock.texts import LOCALES, Locale
from interlock.texts import graph_doubts_text as text


@dataclass(slots=True)
class CallSequence:
    given: dict[int, str | None]
    """By place, the digest of what was called there, in this try or an earlier one; None where it was not kept."""
    _taken: set[int] = field(default_factory=set[int])
    _passed: set[int] = field(default_factory=set[int])
    _next: int = 0

    @classmethod
    def of(cls, saved: Mapping[int, str | None]) -> "CallSequence":
        return cls(dict(saved))

    def place_of(self, name: str) -> int | None:
        """Where the graph is that was called so and that nobody goes on with yet, or else room for it.

        None where a graph stands in its place that was called otherwise: see `in_doubt`.
        """
        same = [place for place, one in self.given.items() if one == name and place not in self._taken]
        if same:
            return self._next if self._next in same else min(same)
        if self.given.get(self._next, "") is None and self._next not in self._taken:
            return self._next  # An earlier version did not keep what it was called with.
        return None if self.in_doubt() is not None else max([self._next - 1, *self.given]) + 1

    def in_doubt(self) -> int | None:
        """The place of the next graph that may be the one that is called, with something else this time."""
        left = self.given.keys() - self._taken - self._passed
        return min((place for place in left if place >= self._next), default=None)

    def take(self, place: int, name: str) -> None:
        self.given[place] = name
        self._taken.add(place)
        self._next = place + 1

    def release(self, place: int) -> None:
        """It failed: who calls it again goes on with it."""
        self._taken.discard(place)

    def settle(self, place: int, name: str, *, is_same: bool) -> None:
        if is_same:
            self.given[place] = name
        else:
            self._passed.add(place)


_STYLES = {"same": "danger", "anew": "default"}


def ask_if_same(saved: CheckpointTuple | None, given: Any) -> bool:
    """Whether a graph that had come to its end, given something else, is the one that is called now.

    It asks a person, since nobody else can tell: a list may have become shorter, or an input may hold the time.
    """
    values: Mapping[str, Any] = saved.checkpoint["channel_values"] if saved else {}
    before = {key: value for key, value in values.items() if ":" not in key and not key.startswith("__")}
    bodies = {locale: _body(locale, _json(before), _json(given)) for locale in LOCALES}
    return ask_body(bodies["en"].with_translations(bodies), None)["decision"] == "same"


def _json(value: Any) -> str:
    return canonical_json(plain(value))


def _body(locale: Locale, before: str, now: str) -> DecisionBody:
    return DecisionBody.ask(
        text("title", locale),
        [{"key": key, "label": text(key, locale), "style": style} for key, style in _STYLES.items()],
        description=text("shown", locale, before=before, now=now),
        risks=[text("risk", locale)],
        decision_type="graph_in_doubt",
    )
