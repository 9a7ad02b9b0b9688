"""Observers: nobody, several, and the one that every worker has, which counts its runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from interlock.domain.effect import EffectKey, EffectState
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.run import Claim, RunStatus
from interlock.ports.observer import Observer

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0, 7_200.0)
"""Seconds, up to which runs are told apart."""


class NullObserver:
    """Sees nothing. Those who see some of it start from here."""

    def on_ask(self, requests: Sequence[Request]) -> None: ...

    def on_settlement(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None: ...

    def on_run_start(self, claim: Claim, at: datetime) -> None: ...

    def on_resume(self, run_id: str, pause_ids: Collection[str]) -> None: ...

    def on_effect(
        self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime
    ) -> None: ...

    def on_run_end(self, run_id: str, status: RunStatus, at: datetime) -> None: ...

    def on_release(self, run_id: str) -> None: ...

    def on_live_event(self, seconds: float) -> None: ...

    def on_missed_event(self) -> None: ...


class CompositeObserver:
    """Each is told of everything."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def on_ask(self, requests: Sequence[Request]) -> None:
        for one in self._observers:
            one.on_ask(requests)

    def on_settlement(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None:
        for one in self._observers:
            one.on_settlement(request, status, origin, at)

    def on_run_start(self, claim: Claim, at: datetime) -> None:
        for one in self._observers:
            one.on_run_start(claim, at)

    def on_resume(self, run_id: str, pause_ids: Collection[str]) -> None:
        for one in self._observers:
            one.on_resume(run_id, pause_ids)

    def on_effect(
        self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime
    ) -> None:
        for one in self._observers:
            one.on_effect(run_id, key, tool, state, began, at)

    def on_run_end(self, run_id: str, status: RunStatus, at: datetime) -> None:
        for one in self._observers:
            one.on_run_end(run_id, status, at)

    def on_release(self, run_id: str) -> None:
        for one in self._observers:
            one.on_release(run_id)

    def on_live_event(self, seconds: float) -> None:
        for one in self._observers:
            one.on_live_event(seconds)

    def on_missed_event(self) -> None:
        for one in self._observers:
            one.on_missed_event()


@dataclass(slots=True)
class Histogram:
    """How many took up to each of the bounds, and how long all of them took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        place = next((number for number, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        self.counts[place] += 1
        self.total += max(0.0, seconds)

    def as_json(self) -> JsonObject:
        return {"counts": self.counts, "total": self.total}

    @classmethod
    def read(cls, stored: Mapping[str, JsonValue]) -> "Histogram":
        """What a worker of another version counted by other bounds is left out."""
        counts: Sequence[int] = stored.get("counts", ())
        return cls(list(counts), float(stored["total"])) if len(counts) == len(BOUNDS) + 1 else cls()


class Tally(NullObserver):
    """A worker's runs: how many ended how, how long they waited for it and how long they took.

    It goes into the worker's sign of life, so that servers can tell of workers that nobody can ask.
    """

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}
        self.waits = Histogram()
        self.takes = Histogram()
        self._begun: dict[str, datetime] = {}

    def on_run_start(self, claim: Claim, at: datetime) -> None:
        self._begun[claim.run.id] = at
        if claim.run.attempt <= 1:
            self.waits.add((at - claim.run.created_at).total_seconds())

    def on_run_end(self, run_id: str, status: RunStatus, at: datetime) -> None:
        self.ends[status.value] = self.ends.get(status.value, 0) + 1
        if start := self._begun.get(run_id):
            self.takes.add((at - start).total_seconds())

    def on_release(self, run_id: str) -> None:
        self._begun.pop(run_id, None)

    def as_json(self) -> JsonObject:
        return {"ends": self.ends, "waits": self.waits.as_json(), "takes": self.takes.as_json()}
