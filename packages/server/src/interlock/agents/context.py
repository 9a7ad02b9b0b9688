"""What the runner lends to the code of the graph it runs. Outside of a hosted run there is none."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from interlock.agents.ask_record import AskRecord, effects_around
from interlock.agents.breakpoints import BreakpointRecord
from interlock.agents.silence import Silence
from interlock.domain.effect import EffectKey
from interlock.domain.preview import FilePreview
from interlock.domain.redaction import Redaction
from interlock.ports.journal import Journal

T = TypeVar("T")
Thunk = Callable[[], Any]


class Packer(Protocol):
    """Turns what a tool gave into bytes and back: LangGraph's serializer."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]: ...

    def loads_typed(self, data: tuple[str, bytes]) -> Any: ...


@dataclass(slots=True)
class RunContext:
    journal: Journal
    packer: Packer
    loop: asyncio.AbstractEventLoop
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values that people gave in this run's asks, by handle."""
    secret_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same values, by the name that was asked for."""
    silence: Silence = field(default_factory=Silence)
    """Takes them out of what is written down."""
    asks: AskRecord = field(default_factory=AskRecord)
    breakpoints: BreakpointRecord = field(default_factory=BreakpointRecord)
    shown_files: dict[tuple[str, str], FilePreview] = field(default_factory=dict[tuple[str, str], FilePreview])
    """By call and digest, the file behind it as the person was shown it who allowed it: models use an id twice."""
    tasks: dict[str, Any] = field(default_factory=dict[str, Any])
    """Per task of the graph, and per effect that has others inside, what keeps its calls in order."""
    unsaved: dict[EffectKey, str] = field(default_factory=dict[EffectKey, str])
    """Effects that did something inside which no saver keeps: were they entered again, it would be done again."""
    _under_way: set[object] = field(default_factory=set[object])
    _none_under_way: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def redact(self) -> Redaction:
        return self.silence.text

    def effect_began(self, turn: object) -> None:
        self._under_way.add(turn)
        self._none_under_way.clear()

    def effect_ended(self, turn: object) -> None:
        self._under_way.discard(turn)
        if not self._under_way:
            self._none_under_way.set()

    async def end_attempt(self) -> None:
        """Let no effect begin and no ask be answered any more, and wait until no effect is under way.

        A call's siblings go on when it asks, and their results count.
        """
        self.asks.is_over = True
        while self._under_way:
            await self._none_under_way.wait()

    def pack(self, value: Any) -> bytes:
        kind, data = self.packer.dumps_typed(value)
        return kind.encode() + b"\n" + self.silence.pack(kind, data)

    def unpack(self, data: bytes) -> Any:
        kind, _, body = data.partition(b"\n")
        return self.packer.loads_typed((kind.decode(), body))

    def record_here(self, recorded: Callable[[Callable[[], Awaitable[Any]]], Coroutine[Any, Any, T]], fn: Thunk) -> T:
        """From a worker thread: keep the record on the server's loop, and run `fn` in this very thread.

        Another thread for `fn` would come from the same pool as this one, and a pool whose threads all wait for one
        more thread waits for ever.
        """
        jobs: SimpleQueue[tuple[Context, asyncio.Future[Any]] | None] = SimpleQueue()

        async def execute() -> Any:
            job = self.loop.create_future()
            jobs.put((copy_context(), job))
            return await job

        ended = asyncio.run_coroutine_threadsafe(recorded(execute), self.loop)
        ended.add_done_callback(lambda _: jobs.put(None))
        while (job := jobs.get()) is not None:
            self._do(fn, *job)
        return ended.result()

    def _do(self, fn: Thunk, context: Context, job: "asyncio.Future[Any]") -> None:
        try:
            result = context.run(fn)
        except BaseException as error:
            self.loop.call_soon_threadsafe(_fail, job, error)
        else:
            self.loop.call_soon_threadsafe(_succeed, job, result)


def _succeed(job: "asyncio.Future[Any]", result: Any) -> None:
    if not job.done():
        job.set_result(result)


def _fail(job: "asyncio.Future[Any]", error: BaseException) -> None:
    if not job.done():
        # What would end a process ends the call here, and no more.
        job.set_exception(error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}"))


current: ContextVar[RunContext | None] = ContextVar("interlock_run", default=None)
_entered: set[int] = set()
"""The runs whose code is under way in this process."""


@contextmanager
def enter(run: RunContext) -> Generator[None]:
    """The run whose code is executed in the block."""
    token = current.set(run)
    _entered.add(id(run))
    try:
        yield
    finally:
        _entered.discard(id(run))
        current.reset(token)


def here(what: str) -> RunContext | None:
    """The run whose code calls; None where none is under way.

    Threads of a pool do not know for whom they work: while there are runs it is an error, since `what` would be lost.
    """
    run = current.get()
    if run is None and _entered:
        raise RuntimeError(
            f"{what} was called in a thread that does not know its run: start the work with asyncio.to_thread(...), or "
            "hand contextvars.copy_context().run to the pool, a copy for each thread"
        )
    return run


def breakpoints_here() -> BreakpointRecord | None:
    run = current.get()
    return None if run is None else run.breakpoints


declared_idempotent: ContextVar[bool] = ContextVar("interlock_idempotent", default=False)


def secret(name: str) -> str:
    """The value that a person gave for this name in an ask of the present run; `LookupError` when nobody did."""
    run = here("interlock.ask.secret")
    if run is None or name not in run.secret_names:
        raise LookupError(f"no value was given for {name}: ask for it with ask.env_vars or request_env_vars")
    return run.secret_names[name]


def idempotency_key() -> str:
    """A key that is the same whenever the tool call that runs now is tried again; `LookupError` outside of one."""
    here("interlock.idempotency_key")
    around = effects_around.get()
    if not around:
        raise LookupError("no tool call of a hosted graph runs here")
    return around[-1].idempotency_key
