"""The effect journal of a run: intent before, result after, each in a transaction that the lease fences."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from interlock import failpoints
from interlock.domain.ask_binding import are_in_same_calls, is_about
from interlock.domain.canonical import action_digest, plain
from interlock.domain.effect import Effect, EffectKey, EffectState
from interlock.domain.errors import InterlockError
from interlock.domain.event import Event, EventData, ToolEnded, ToolStarted, ToolStatus
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.principal import SYSTEM
from interlock.domain.thread import Lease
from interlock.ports.journal import EffectStart, RecordedResult, Refusal
from interlock.services.core import Core, Unit, unit
from interlock.services.runs.lifecycle import RunLog

OUTPUT_SHOWN = 32_768
"""How many characters of a tool's output its event carries; the whole of it is in the recorded result."""


class EffectRefused(InterlockError):
    def __init__(self, message: str, call_id: str) -> None:
        super().__init__(message)
        self.call_id = call_id


class EffectMismatch(EffectRefused):
    """What is about to run is not what was approved or recorded."""

    code = "effect_mismatch"


class EffectFailed(EffectRefused):
    """The effect failed in this run already, and is not tried again without somebody's word."""

    code = "effect_failed"


@dataclass(frozen=True, slots=True)
class _JudgedCall:
    """A call of which a person said whether it may run."""

    call_id: str
    digest: str
    space: str | None
    """The namespace of the graph that asked; None where it is not known."""
    asker: str | None
    """The effects inside of which it was asked; None where that is not known."""


@dataclass(frozen=True, slots=True)
class ApprovedCall(_JudgedCall):
    """One that a person approved, as it was shown or as they changed it."""


@dataclass(frozen=True, slots=True)
class RefusedCall(_JudgedCall):
    """One that a person refused, as it was shown, or answered in place of its tool."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class _StartingCall:
    """A call that is about to begin."""

    ids: Sequence[str]
    """Its own last; before it those under which it may have been shown, where middleware gave it another."""
    digest: str
    space: str
    asker: str

    def matches(self, word: _JudgedCall) -> bool:
        if word.call_id not in self.ids or not is_about(word.space, self.space):
            return False
        return are_in_same_calls(word.asker, self.asker)


class RunJournal:
    """One run's journal. What the run's log holds goes into the thread's log before what the journal writes."""

    def __init__(
        self,
        core: Core,
        lease: Lease,
        log: RunLog,
        *,
        approved: Iterable[ApprovedCall],
        refused: Iterable[RefusedCall] = (),
    ) -> None:
        self._core = core
        self._lease = lease
        self._log = log
        self._approved = list(approved)
        self._refused = list(refused)
        self._running: dict[EffectKey, tuple[str, datetime]] = {}
        """By effect, its tool and when it began."""

    async def begin(
        self,
        task_id: str,
        call_id: str,
        tool: str,
        args: Mapping[str, JsonValue],
        *,
        idempotent: bool,
        parent: EffectKey | None,
        asks: int = 0,
        former_id: str | None = None,
        space: str = "",
        asker: str = "",
        made_as: Sequence[str] = (),
    ) -> EffectStart | RecordedResult | Refusal:
        digest = action_digest(tool, args)
        key = EffectKey(self._lease.thread_id, task_id, call_id)
        call = _StartingCall((*made_as, key.tool_call_id), digest, space, asker)
        async with self._fence() as work:
            before = await work.tx.effects.get(key) or await _formerly(work, key, former_id, parent)
            key = before.key if before is not None else key
            is_changed = before is not None and before.digest != digest
            if before is not None and is_changed:
                await _check_nothing_ran(work, before)
            if before is not None and before.state is EffectState.DONE:
                if before.run_id == self._lease.run_id:
                    self._spend(call)
                return RecordedResult(key, before.result or b"", before.asks)
            is_entered_again = before is not None and not is_changed and before.state is EffectState.WAITING
            if refusal := self._refusal_of(call, is_entered_again=is_entered_again):
                return refusal
            self._check_approved(call, tool, is_entered_again=is_entered_again)
            effect = before if before is not None and not is_changed else Effect(
                key, self._lease.run_id, self._lease.epoch, tool, plain(dict(args)), digest,
                EffectState.INTENDED, idempotent, asks, work.now, work.now, parent=parent,
            )  # fmt: skip
            if is_changed:
                await work.tx.effects.remove(key)
            await self._intend(work, effect, asks, is_new=before is None or is_changed)
        self._running[key] = tool, work.now
        self._spend(call)
        failpoints.hit("effect.intended")
        return EffectStart(key, digest, is_again=before is not None)

    async def record_result(
        self, key: EffectKey, result: bytes, asks: int, output: str, *, failed: bool = False
    ) -> None:
        failpoints.hit("effect.returned")
        async with self._fence() as work:
            await self._end(work, key, EffectState.DONE, result=result, asks=asks)
            await self._record_end(work, key, "failed" if failed else "success", output)
        failpoints.hit("effect.done")

    async def record_failure(self, key: EffectKey, error: str) -> None:
        async with self._fence() as work:
            await self._end(work, key, EffectState.FAILED, error=error)
            await self._record_end(work, key, "failed", error)

    async def record_waiting(self, key: EffectKey) -> None:
        async with self._fence() as work:
            await self._end(work, key, EffectState.WAITING)

    @asynccontextmanager
    async def _fence(self) -> AsyncGenerator[Unit]:
        async with unit(self._core) as work:
            await work.tx.leases.check(self._lease)
            yield work

    async def _record(self, work: Unit, entry: EventData) -> None:
        waiting = self._log.take()
        try:
            events = await work.record(self._lease.thread_id, *waiting, entry)
        except BaseException:
            self._log.restore(waiting)
            raise
        self._log.mark_recorded(events)

    def _check_approved(self, call: _StartingCall, tool: str, *, is_entered_again: bool) -> None:
        # Of a call that asked inside, as it was allowed then: where it is not known who asked, it was that.
        approved = [one for one in self._approvals_of(call) if one.asker is not None or not is_entered_again]
        if approved and all(one.digest != call.digest for one in approved):
            raise EffectMismatch(f"what was approved is not what {tool} was about to run with", call_id=call.ids[-1])

    def _refusal_of(self, call: _StartingCall, *, is_entered_again: bool) -> Refusal | None:
        """What was said in place of it, by the last word on it; a later yes stands for one call.

        Of what a call asked inside, nothing is said of itself: see `_check_approved`.
        """
        if any(one.digest == call.digest for one in self._approvals_of(call)):
            return None
        about = [one for one in self._refused if one.digest == call.digest and call.matches(one)]
        return next((one.refusal for one in about if one.asker is not None or not is_entered_again), None)

    def _spend(self, call: _StartingCall) -> None:
        """The word was for this call alone: there are models that use an id again."""
        word = next((one for one in self._approvals_of(call) if one.digest == call.digest), None)
        if word is not None:
            self._approved.remove(word)

    def _approvals_of(self, call: _StartingCall) -> list[ApprovedCall]:
        """What people said of calls with this id: if its own graph asked, what that graph asked."""
        about = [one for one in self._approved if call.matches(one)]
        return [one for one in about if one.space == call.space] or about

    async def _intend(self, work: Unit, effect: Effect, asks: int, *, is_new: bool) -> None:
        if is_new:
            await work.tx.effects.add(effect)
        else:
            await self._intend_again(work, effect, asks)
        if effect.key.is_tool_call and effect.state is not EffectState.WAITING:
            await self._record(work, ToolStarted(effect.key.tool_call_id, effect.tool, effect.args))
        await self._audit(work, "effect.intended", effect.key, {"tool": effect.tool, "digest": effect.digest})

    async def _intend_again(self, work: Unit, effect: Effect, asks: int) -> None:
        key = effect.key
        if effect.state is EffectState.FAILED and not effect.idempotent and effect.run_id == self._lease.run_id:
            # It may have taken effect before it raised: only a person's word starts it once more, in another run.
            raise EffectFailed(effect.error or f"{effect.tool} failed", call_id=key.call_id)
        if effect.state is EffectState.INTENDED and not effect.idempotent:
            may = (await _InnerEffects.read(work, [key])).may_be_entered_again(effect)
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
        tool, began = self._running[key]
        work.observe(lambda observer: observer.on_effect(self._lease.run_id, key, tool, state, began, work.now))

    async def _record_end(self, work: Unit, key: EffectKey, status: ToolStatus, output: str) -> None:
        if not key.is_tool_call:
            return
        await self._record(work, ToolEnded(key.tool_call_id, self._running[key][0], output[:OUTPUT_SHOWN], status))

    async def _audit(self, work: Unit, action: str, key: EffectKey, data: JsonObject) -> None:
        entry = {"task_id": key.task_id, "call_id": key.call_id, **data}
        await work.tx.audit.append(key.thread_id, SYSTEM, action, entry, work.now)


async def _check_nothing_ran(work: Unit, before: Effect) -> None:
    """A call that only asked so far may come with other arguments: it is asked about again. One that did anything,
    itself or inside, is on record with those that it did it with."""
    inside = {before.key}
    others = await work.tx.effects.of_thread(before.key.thread_id, *EffectState)
    while more := {one.key for one in others if one.parent in inside} - inside:
        inside |= more
    if any(one.state is not EffectState.WAITING for one in others if one.key in inside):
        raise EffectMismatch(
            f"{before.tool} was run with other arguments before its task was run again, and is not run with these: "
            "what changes from one time to the next (a time, a random value) belongs into the graph's state, in a node "
            "before the one that makes the call",
            call_id=before.key.call_id,
        )


async def _formerly(work: Unit, key: EffectKey, former_id: str | None, parent: EffectKey | None) -> Effect | None:
    """What an earlier version recorded of this effect: there all calls of a tool in one task shared one key."""
    if former_id is None:
        return None
    effect = await work.tx.effects.get(EffectKey(key.thread_id, key.task_id, former_id))
    return effect if effect is not None and effect.parent == parent else None


@dataclass(frozen=True, slots=True)
class Doubt:
    effect: Effect
    lost: Sequence[Effect]
    """What it did inside that cannot be found again: the word on the effect is a word on these too."""


async def find_doubtful(core: Core, lease: Lease, log: RunLog) -> list[Doubt]:
    """The effects that began, did not end and may not simply be run again; from now on they are in doubt."""
    async with unit(core) as work:
        await work.tx.leases.check(lease)
        doubtful = await work.tx.effects.of_thread(lease.thread_id, EffectState.IN_DOUBT)
        effects = await work.tx.effects.of_thread(lease.thread_id, EffectState.INTENDED)
        insides = await _InnerEffects.read(work, [effect.key for effect in (*doubtful, *effects)])
        for effect in effects:
            if not effect.key.is_kept:
                log.mark_recorded(await _abandon(work, effect))
            elif not insides.may_be_entered_again(effect):
                doubtful.append(effect)
                await work.tx.effects.change(effect.key, EffectState.IN_DOUBT, work.now)
                await work.tx.audit.append(
                    lease.thread_id, SYSTEM, "effect.in_doubt", {"call_id": effect.key.call_id}, work.now
                )
        return [Doubt(effect, insides.list_lost(effect.key)) for effect in doubtful]


async def _abandon(work: Unit, effect: Effect) -> list[Event]:
    """Of one that is not kept nobody is asked: whatever they said, nothing would look for it under its key."""
    error = "It was cut short by a crash."
    await work.tx.effects.change(effect.key, EffectState.FAILED, work.now, error=error)
    if not effect.key.is_tool_call:
        return []
    return await work.record(effect.key.thread_id, ToolEnded(effect.key.call_id, effect.tool, error, "failed"))


@dataclass(frozen=True, slots=True)
class _InnerEffects:
    """What was recorded inside of effects."""

    effects: Sequence[Effect]

    @classmethod
    async def read(cls, work: Unit, keys: Sequence[EffectKey]) -> "_InnerEffects":
        return cls(await work.tx.effects.inside(keys[0].thread_id, keys) if keys else ())

    def list_lost(self, key: EffectKey) -> list[Effect]:
        """What would be done again, since its key is another one each time."""
        return [one for one in self.effects if one.parent == key and not one.key.is_kept and not one.idempotent]

    def may_be_entered_again(self, effect: Effect) -> bool:
        """Whether it is idempotent or a container, and all that it did inside is found again.

        Only a tool with tool calls inside is a container: one that records effects of its own, or runs a graph without
        tools, did other things too. A plain node's effect and its subgraph share one task.
        """
        if self.list_lost(effect.key):
            return False
        has_calls = any(one.parent == effect.key and one.key.is_tool_call and one.key.is_kept for one in self.effects)
        return effect.idempotent or (effect.key.is_tool_call and has_calls)


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
            ended = ToolEnded(
                key.tool_call_id, effect.tool, output[:OUTPUT_SHOWN], "success" if took_effect else "refused"
            )
            return await work.record(lease.thread_id, ended)
        return []
