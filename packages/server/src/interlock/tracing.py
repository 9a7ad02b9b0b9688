"""Traces of OpenTelemetry, from the ask to the effect.

A pause may last for weeks, over restarts, and be asked, answered and resumed by three processes. So a trace carries no
context from one to the next: its ids are made from the pause's id, and whoever has something to tell knows them.
"""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from interlock.domain.effect import EffectKey, EffectState
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.run import Claim, RunCause, RunStatus
from interlock.services.operations.observers import NullObserver

Attributes = dict[str, str | int]

SEND_SECONDS = 3.0
"""How long a collector that does not answer is waited for; a server that ends does so too."""

_NANOSECONDS = 1_000_000_000


class Traces(NullObserver):
    """One trace for each pause: how long people were waited for, the run that went on, and what it did.

    Names and states only: no argument, no answer and no text of anybody is in a span.
    """

    def __init__(self, exporter: SpanExporter, node: str) -> None:
        self._ids = _Ids()
        resource = Resource.create({"service.name": "interlock", "service.instance.id": node})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("interlock")
        self._runs: dict[str, _Run] = {}

    def close(self) -> None:
        """What waits to be sent is sent."""
        self._provider.shutdown()

    def on_ask(self, requests: Sequence[Request]) -> None:
        first = requests[0]
        attributes = _of(first) | {"interlock.requests": len(requests)}
        self._span(_Place(first.pause_id), "ask", first.created_at, first.created_at, attributes)

    def on_settlement(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None:
        attributes = _of(request) | {"interlock.status": status.value, "interlock.origin": origin.value}
        self._span(
            _Place(request.pause_id, request.id), f"wait for {request.kind.value}", request.created_at, at, attributes
        )

    def on_run_start(self, claim: Claim, at: datetime) -> None:
        self._runs[claim.run.id] = _Run(claim, at)

    def on_resume(self, run_id: str, pause_ids: Collection[str]) -> None:
        run = self._runs.get(run_id)
        # Later in the run there are those that it opened itself, and that grants settled.
        if run is not None and run.pauses is None:
            run.pauses = tuple(pause_ids)

    def on_effect(
        self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime
    ) -> None:
        if run := self._runs.get(run_id):
            attributes: Attributes = {"interlock.tool": tool, "interlock.state": state.value}
            name = f"effect {key.task_id} {key.call_id} {began.isoformat()}"
            self._span(_Place(run.root, name, run.name), f"tool {tool}", began, at, attributes)

    def on_run_end(self, run_id: str, status: RunStatus, at: datetime) -> None:
        if run := self._runs.get(run_id):
            attributes: Attributes = {
                "interlock.thread": run.claim.thread.id,
                "interlock.run": run_id,
                "interlock.cause": run.claim.run.cause.value,
                "interlock.status": status.value,
                "interlock.attempt": run.claim.run.attempt,
            }
            self._span(_Place(run.root, run.name), "run", run.began, at, attributes)

    def on_release(self, run_id: str) -> None:
        self._runs.pop(run_id, None)

    def _span(self, place: "_Place", name: str, start: datetime, end: datetime, attributes: Attributes) -> None:
        with self._ids.at(place):
            span = self._tracer.start_span(
                name, place.context(), attributes=attributes, start_time=int(start.timestamp() * _NANOSECONDS)
            )
        span.end(int(end.timestamp() * _NANOSECONDS))


class _Run:
    def __init__(self, claim: Claim, began: datetime) -> None:
        self.claim = claim
        self.began = began
        self.pauses: tuple[str, ...] | None = () if claim.run.cause is RunCause.MESSAGE else None

    @property
    def root(self) -> str:
        """What its trace is named after: the pause that it goes on from, else itself."""
        return self.pauses[0] if self.pauses else self.claim.run.id

    @property
    def name(self) -> str:
        """The first run of a trace of its own is what that begins with."""
        return f"{self.claim.run.id} {self.claim.run.attempt}" if self.pauses else self.claim.run.id


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a span stands: in which trace, under which name, below which other."""

    root: str
    name: str = ""
    """Empty: what the trace begins with."""
    parent: str = ""

    @property
    def trace_id(self) -> int:
        return _number(self.root, 16)

    @property
    def span_id(self) -> int:
        return _span_id(self.root, self.name)

    def context(self) -> Context:
        if self.span_id == _span_id(self.root, ""):
            return Context()
        above = _span_id(self.root, self.parent)
        parent = SpanContext(self.trace_id, above, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        return set_span_in_context(NonRecordingSpan(parent), Context())


class _Ids(IdGenerator):
    """The ids of the span that is being made."""

    def __init__(self) -> None:
        self._place: ContextVar[_Place] = ContextVar("place")

    @contextmanager
    def at(self, place: _Place) -> Generator[None]:
        token = self._place.set(place)
        try:
            yield
        finally:
            self._place.reset(token)

    def generate_span_id(self) -> int:
        return self._place.get().span_id

    def generate_trace_id(self) -> int:
        return self._place.get().trace_id


def _span_id(root: str, name: str) -> int:
    return _number(f"{root} {'' if name == root else name}", 8)


def _number(text: str, size: int) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:size])


def _of(request: Request) -> Attributes:
    attributes: Attributes = {
        "interlock.thread": request.thread_id,
        "interlock.request": request.id,
        "interlock.kind": request.kind.value,
        "interlock.agent": request.agent,
    }
    return attributes | ({"interlock.tool": request.tool} if request.tool else {})


def make_traces(endpoint: str, node: str) -> Traces:
    return Traces(OTLPSpanExporter(endpoint=endpoint, timeout=SEND_SECONDS), node)
