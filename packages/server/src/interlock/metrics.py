"""What `/metrics` says, in Prometheus' text format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from interlock.domain.effect import EffectKey, EffectState
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.services.core import Core
from interlock.services.operations.observers import BOUNDS, NullObserver
from interlock.services.operations.observers import Histogram as OwnHistogram
from interlock.services.operations.stats import server_stats

# Else there would be a second series for each, with the time at which it began.
disable_created_metrics()

_DAY = 86_400.0
_WAITS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 4 * 3_600.0, _DAY, 3 * _DAY, 7 * _DAY, 30 * _DAY)
_LAGS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics(NullObserver):
    """What this server saw since it started, and what stands in the store when somebody asks."""

    def __init__(self, streams: Callable[[], int]) -> None:
        registry = self._registry = CollectorRegistry()
        self._asked = Counter("interlock_requests_asked", "Requests put to people", ["kind"], registry=registry)
        self._settled = Counter(
            "interlock_requests_settled", "Requests that ended", ["kind", "status", "origin"], registry=registry
        )
        self._answers = Histogram(
            "interlock_answer_seconds", "From ask to a person's answer", ["kind"], buckets=_WAITS, registry=registry
        )
        self._effects = Counter("interlock_effects", "Effects by how they ended", ["state"], registry=registry)
        self._lag = Histogram(
            "interlock_bus_lag_seconds", "From an event to its followers by the bus", buckets=_LAGS, registry=registry
        )
        self._missed = Counter("interlock_bus_missed", "Looks into the log that the bus caused", registry=registry)
        self._pending = Gauge("interlock_requests_pending", "Requests that wait now", ["kind"], registry=registry)
        self._runs = Gauge("interlock_runs_active", "Runs that wait or go on now", ["status"], registry=registry)
        self._workers = Gauge("interlock_workers", "Workers that live", ["kind"], registry=registry)
        self._streams = Gauge("interlock_streams_open", "Streams and sockets open here", registry=registry)
        self._streams.set_function(streams)
        self._ran = _Ran()
        registry.register(self._ran)

    def on_ask(self, requests: Sequence[Request]) -> None:
        for request in requests:
            self._asked.labels(request.kind.value).inc()

    def on_settlement(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None:
        self._settled.labels(request.kind.value, status.value, origin.value).inc()
        if status is RequestStatus.ANSWERED and origin is AnswerOrigin.PERSON:
            self._answers.labels(request.kind.value).observe((at - request.created_at).total_seconds())

    def on_effect(
        self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime
    ) -> None:
        self._effects.labels(state.value).inc()

    def on_live_event(self, seconds: float) -> None:
        self._lag.observe(max(0.0, seconds))

    def on_missed_event(self) -> None:
        self._missed.inc()

    async def text(self, core: Core) -> bytes:
        found = await server_stats(core)
        for kind, number in found.pending.items():
            self._pending.labels(kind.value).set(number)
        for status, number in found.runs.items():
            self._runs.labels(status.value).set(number)
        self._workers.clear()
        for worker in found.workers:
            self._workers.labels(worker.kind).inc()
        measured = {worker.id: worker.measured for worker in found.workers}
        # A server that has its database to itself is no worker among others.
        self._ran.measured = measured or {"local": core.tally.as_json()}
        return generate_latest(self._registry)


class _Ran:
    """What each worker counted, as its last sign of life tells."""

    def __init__(self) -> None:
        self.measured: Mapping[str, Mapping[str, Any]] = {}

    def collect(self) -> Iterable[Metric]:
        ended = CounterMetricFamily("interlock_runs_ended", "Runs by how they ended", labels=["worker", "status"])
        waits = _histogram("interlock_run_wait_seconds", "From a run's cause to its begin")
        takes = _histogram("interlock_run_seconds", "From a run's begin to its end or pause")
        for worker, measures in self.measured.items():
            for status, number in measures.get("ends", {}).items():
                ended.add_metric([worker, status], number)
            _add(waits, worker, measures.get("waits", {}))
            _add(takes, worker, measures.get("takes", {}))
        return (ended, waits, takes)


def _histogram(name: str, what: str) -> HistogramMetricFamily:
    return HistogramMetricFamily(name, what, labels=["worker"])


def _add(family: HistogramMetricFamily, worker: str, measures: Mapping[str, Any]) -> None:
    spread = OwnHistogram.read(measures)
    family.add_metric([worker], _buckets(spread.counts), spread.total)


def _buckets(counts: Sequence[int]) -> list[tuple[str, float]]:
    """Each bucket counts those below it too."""
    bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    return [(bound, float(sum(counts[: number + 1]))) for number, bound in enumerate(bounds)]
