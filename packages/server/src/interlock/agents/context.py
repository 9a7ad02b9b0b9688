"""What the runner lends to the code of the graph it runs. Outside of a hosted run there is none."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from interlock.agents.ask_record import AskRecord, effects_around
from interlock.domain.effect import EffectKey
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
    redact: Redaction = field(default_factory=Redaction)
    """Takes them out of a text."""
    asks: AskRecord = field(default_factory=AskRecord)
    tasks: dict[str, Any] = field(default_factory=dict[str, Any])
    """Per task of the graph, and per effect that has others inside, what keeps its calls in order."""
    _under_way: set[EffectKey] = field(default_factory=set[EffectKey])
    _none_under_way: asyncio.Event = field(default_factory=asyncio.Event)

    def effect_began(self, key: EffectKey) -> None:
        self._under_way.add(key)
        self._none_under_way.clear()

    def effect_ended(self, key: EffectKey) -> None:
        self._under_way.discard(key)
        if not self._under_way:
            self._none_under_way.set()

    async def effects_ended(self) -> None:
        """Wait until no effect is under way: a call's siblings go on when it asks, and their results count."""
        if self._under_way:
            await self._none_under_way.wait()

    def pack(self, value: Any) -> bytes:
        kind, data = self.packer.dumps_typed(value)
        return kind.encode() + b"\n" + data

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
declared_idempotent: ContextVar[bool] = ContextVar("interlock_idempotent", default=False)


def secret(name: str) -> str:
    """The value that a person gave for this name in an ask of the present run; `LookupError` when nobody did."""
    run = current.get()
    if run is None or name not in run.secret_names:
        raise LookupError(f"no value was given for {name}: ask for it with ask.env_vars or request_env_vars")
    return run.secret_names[name]


def idempotency_key() -> str:
    """A key that is the same whenever the tool call that runs now is tried again; `LookupError` outside of one."""
    around = effects_around.get()
    if not around:
        raise LookupError("no tool call of a hosted graph runs here")
    return around[-1].idempotency_key
