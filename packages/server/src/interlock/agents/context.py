"""What the runner lends to the code of the graph it runs. Outside of a hosted run there is none."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from interlock.domain.effect import EffectKey
from interlock.ports.journal import Journal

T = TypeVar("T")


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
    tasks: dict[str, Any] = field(default_factory=dict[str, Any])
    """Per task of the graph, what keeps its tool calls in order."""
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

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop from a worker thread, as sync tools and nodes do."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


current: ContextVar[RunContext | None] = ContextVar("interlock_run", default=None)
current_effect: ContextVar[EffectKey | None] = ContextVar("interlock_effect", default=None)
declared_idempotent: ContextVar[bool] = ContextVar("interlock_idempotent", default=False)


def secret(name: str) -> str:
    """The value that a person gave for this name in an ask of the present run; `LookupError` when nobody did."""
    run = current.get()
    if run is None or name not in run.secret_names:
        raise LookupError(f"no value was given for {name}: ask for it with ask.env_vars or request_env_vars")
    return run.secret_names[name]


def idempotency_key() -> str:
    """A key that is the same whenever the tool call that runs now is tried again; `LookupError` outside of one."""
    key = current_effect.get()
    if key is None:
        raise LookupError("no tool call of a hosted graph runs here")
    return f"{key.thread_id}/{key.task_id}/{key.call_id}"
