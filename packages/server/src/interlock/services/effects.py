"""The effect journal of a run: intent before, result after, each in a transaction that the lease fences."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from interlock import failpoints
from interlock.domain.canonical import action_digest, plain
from interlock.domain.effect import Effect, EffectKey, EffectState
from interlock.domain.errors import InterlockError
from interlock.domain.event import Event, EventType
from interlock.domain.principal import SYSTEM
from interlock.domain.thread import Lease
from interlock.ports.journal import Begun, Recorded
from interlock.services.core import Core, Unit, unit
from interlock.services.run_log import Entry, RunLog

OUTPUT_SHOWN = 32_768
"""How many characters of a tool's output its event carries; the whole of it is in the recorded result."""


class EffectMismatch(InterlockError):
    """What is about to run is not what was approved or recorded."""

    code = "effect_mismatch"


class EffectFailed(InterlockError):
    """The effect failed in this run already, and is not tried again without somebody's word."""

    code = "effect_failed"


class RunJournal:
    """One run's journal. What the run's log holds goes into the thread's log before what the journal writes."""

    def __init__(self, core: Core, lease: Lease, log: RunLog, *, approved: Mapping[str, Collection[str]]) -> None:
        self._core = core
        self._lease = lease
        self._log = log
        self._approved = {call_id: set(digests) for call_id, digests in approved.items()}
        """By tool_call_id, the digests of what people approved, or of their edits: subagents may use the same id."""
        self._begun: dict[EffectKey, tuple[str, datetime]] = {}
        """By effect, its tool and when it began."""

    async def begin(
        self,
        task_id: str,
        call_id: str,
        tool: str,
        args: Mapping[str, Any],
        *,
        idempotent: bool,
        parent: EffectKey | None,
        asks: int = 0,
        former_id: str | None = None,
    ) -> Begun | Recorded:
        digest = action_digest(tool, args)
        self._check_approved(call_id, tool, digest)
        key = EffectKey(self._lease.thread_id, task_id, call_id)
        async with self._fenced() as work:
            before = await work.tx.effects.get(key) or await _formerly(work, key, former_id, parent)
            key = before.key if before is not None else key
            if before is not None and before.digest != digest:
                raise EffectMismatch(f"{tool} was recorded with other arguments", call_id=call_id)
            if before is not None and before.state is EffectState.DONE:
                return Recorded(before.result or b"", before.asks)
            effect = before or Effect(
                key, self._lease.run_id, self._lease.epoch, tool, plain(dict(args)), digest,
                EffectState.INTENDED, idempotent, asks, work.now, work.now, parent=parent,
            )  # fmt: skip
            await self._intend(work, effect, asks, is_new=before is None)
        self._begun[key] = tool, work.now
        if call_id in self._approved:
            # The word was for this call alone: there are models that use an id again.
            self._approved[call_id].discard(digest)
            if not self._approved[call_id]:
                del self._approved[call_id]
        failpoints.hit("effect.intended")
        return Begun(key)

    async def done(self, key: EffectKey, result: bytes, asks: int, output: str, *, failed: bool = False) -> None:
        failpoints.hit("effect.returned")
        async with self._fenced() as work:
            await self._end(work, key, EffectState.DONE, result=result, asks=asks)
            await self._tell_end(work, key, "failed" if failed else "success", output)
        failpoints.hit("effect.done")

    async def failed(self, key: EffectKey, error: str) -> None:
        async with self._fenced() as work:
            await self._end(work, key, EffectState.FAILED, error=error)
            await self._tell_end(work, key, "failed", error)

    async def waiting(self, key: EffectKey) -> None:
        async with self._fenced() as work:
            await self._end(work, key, EffectState.WAITING)

    @asynccontextmanager
    async def _fenced(self) -> AsyncGenerator[Unit]:
        async with unit(self._core) as work:
            await work.tx.leases.check(self._lease)
            yield work

    async def _tell(self, work: Unit, entry: Entry) -> None:
        waiting = self._log.take()
        try:
            events = await work.record(self._lease.thread_id, *waiting, entry)
        except BaseException:
            self._log.put_back(waiting)
            raise
        self._log.recorded(events)

    def _check_approved(self, call_id: str, tool: str, digest: str) -> None:
        approved = self._approved.get(call_id)
        if approved is not None and digest not in approved:
            raise EffectMismatch(f"what was approved is not what {tool} was about to run with", call_id=call_id)

    async def _intend(self, work: Unit, effect: Effect, asks: int, *, is_new: bool) -> None:
        if is_new:
            await work.tx.effects.add(effect)
        else:
            await self._intend_again(work, effect, asks)
        if effect.key.is_tool_call and effect.state is not EffectState.WAITING:
            started = {"call_id": effect.key.call_id, "tool": effect.tool, "input": effect.args}
            await self._tell(work, (EventType.TOOL_STARTED, started))
        await self._audit(work, "effect.intended", effect.key, {"tool": effect.tool, "digest": effect.digest})

    async def _intend_again(self, work: Unit, effect: Effect, asks: int) -> None:
        key = effect.key
        if effect.state is EffectState.FAILED and not effect.idempotent and effect.run_id == self._lease.run_id:
            # It may have taken effect before it raised: only a person's word starts it once more, in another run.
            raise EffectFailed(effect.error or f"{effect.tool} failed", call_id=key.call_id)
        if effect.state is EffectState.INTENDED and not effect.idempotent:
            may = key in await _containers(work, [key])
        else:
            may = True
        if not may or not await work.tx.effects.change(
            key, EffectState.INTENDED, work.now, run_id=self._lease.run_id, epoch=self._lease.epoch, asks=asks
        ):
            raise EffectMismatch(f"{effect.tool} is {effect.state}: it may not be started again", call_id=key.call_id)

    async def _end(
        self,
        work: Unit,
        key: EffectKey,
        state: EffectState,
        *,
        result: bytes | None = None,
        asks: int | None = None,
        error: str | None = None,
    ) -> None:
        if not await work.tx.effects.change(key, state, work.now, result=result, asks=asks, error=error):
            raise EffectMismatch(f"the effect cannot become {state}", call_id=key.call_id)
        await self._audit(work, f"effect.{state}", key, {})
        tool, began = self._begun[key]
        work.observe(lambda observer: observer.acted(self._lease.run_id, key, tool, state, began, work.now))

    async def _tell_end(self, work: Unit, key: EffectKey, status: str, output: str) -> None:
        if not key.is_tool_call:
            return
        ended = {"call_id": key.call_id, "tool": self._begun[key][0], "output": output[:OUTPUT_SHOWN], "status": status}
        await self._tell(work, (EventType.TOOL_ENDED, ended))

    async def _audit(self, work: Unit, action: str, key: EffectKey, data: dict[str, Any]) -> None:
        entry = {"task_id": key.task_id, "call_id": key.call_id, **data}
        await work.tx.audit.append(key.thread_id, SYSTEM, action, entry, work.now)


async def _formerly(work: Unit, key: EffectKey, former_id: str | None, parent: EffectKey | None) -> Effect | None:
    """What an earlier version recorded of this effect: there all calls of a tool in one task shared one key."""
    if former_id is None:
        return None
    effect = await work.tx.effects.get(EffectKey(key.thread_id, key.task_id, former_id))
    return effect if effect is not None and effect.parent == parent else None


async def find_doubtful(core: Core, lease: Lease) -> list[Effect]:
    """The effects that began, did not end and may not simply be run again; from now on they are in doubt."""
    async with unit(core) as work:
        await work.tx.leases.check(lease)
        doubtful = await work.tx.effects.of_thread(lease.thread_id, EffectState.IN_DOUBT)
        begun = await work.tx.effects.of_thread(lease.thread_id, EffectState.INTENDED)
        open_ones = [effect for effect in begun if not effect.idempotent]
        containers = await _containers(work, [effect.key for effect in open_ones])
        for effect in open_ones:
            if effect.key in containers:
                continue
            doubtful.append(effect)
            await work.tx.effects.change(effect.key, EffectState.IN_DOUBT, work.now)
            await work.tx.audit.append(
                lease.thread_id, SYSTEM, "effect.in_doubt", {"call_id": effect.key.call_id}, work.now
            )
        return doubtful


async def _containers(work: Unit, keys: Sequence[EffectKey]) -> set[EffectKey]:
    """Those that ran a graph. Only tools are containers: a plain node's effect and its subgraph share one task."""
    calls = [key for key in keys if key.is_tool_call]
    return await work.tx.effects.containers(calls[0].thread_id, calls) if calls else set()


async def resolve_doubt(
    core: Core,
    lease: Lease,
    key: EffectKey,
    epoch: int,
    *,
    result: bytes | None,
    output: str,
    took_effect: bool = False,
) -> list[Event]:
    """What a person said of an effect in doubt: None lets it run again, else this is its result.

    They spoke of the attempt of that epoch; of a later one that is in doubt too they have to be asked again.
    """
    async with unit(core) as work:
        await work.tx.leases.check(lease)
        state = EffectState.RETRY if result is None else EffectState.DONE
        effect = await work.tx.effects.get(key)
        if effect is None or effect.epoch != epoch:
            return []
        if not await work.tx.effects.change(key, state, work.now, result=result):
            return []
        entry = {"task_id": key.task_id, "call_id": key.call_id, "took_effect": took_effect}
        await work.tx.audit.append(key.thread_id, SYSTEM, f"effect.{state}", entry, work.now)
        if result is not None and key.is_tool_call:
            status = "success" if took_effect else "refused"
            ended = {"call_id": key.call_id, "tool": effect.tool, "output": output[:OUTPUT_SHOWN], "status": status}
            return await work.record(lease.thread_id, (EventType.TOOL_ENDED, ended))
        return []
