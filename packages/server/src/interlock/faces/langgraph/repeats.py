"""What a caller gave a moment ago. The same once more repeats a request whose reply was lost, and gets that reply."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta

from interlock.domain.errors import InvalidAnswer
from interlock.domain.json_value import JsonValue
from interlock.domain.principal import Principal
from interlock.domain.request import Answer, Pause, PauseStatus, Request
from interlock.domain.run import RunCause
from interlock.faces.langgraph import answers
from interlock.faces.langgraph.interrupts import Interrupt, interrupts_of, is_breakpoint
from interlock.services.core import Core
from interlock.services.requests.answering import Reply

SOURCE = "langgraph"
REPEATED_WITHIN = timedelta(seconds=60)
"""The JavaScript client was seen to send a lost request again after 1.5 to 24 seconds; nothing marks it."""
MOST_REMEMBERED = 100
"""How many of the newest questions of a thread are known by their ids once they are settled."""
_SETTLED = (PauseStatus.SETTLED, PauseStatus.CONSUMED)


@dataclass(frozen=True, slots=True)
class ResumeResult:
    run_id: str
    """The run that goes on, or the one that waits where something is still open."""
    seq: int
    """What happens since is after this event."""
    goes_on: bool


class Repeats:
    """Of one caller on one thread, as the database has it."""

    def __init__(self, core: Core, caller: Principal, thread_id: str, convert: answers.Convert) -> None:
        self._core = core
        self._caller = caller
        self._thread_id = thread_id
        self._convert = convert

    async def past(self, keys: AbstractSet[str]) -> dict[str, tuple[Pause, Interrupt]]:
        """Questions that were settled, by id."""
        async with self._core.store.snapshot() as tx:
            pauses = await tx.pauses.newest(self._thread_id, MOST_REMEMBERED)
            requests = await tx.requests.of_pauses([one.id for one in pauses])
        by_pause: dict[str, list[Request]] = {}
        for one in requests:
            by_pause.setdefault(one.pause_id, []).append(one)
        asked = [(pause, one) for pause in pauses for one in interrupts_of(pause, by_pause.get(pause.id, ()))]
        return {one.id: (pause, one) for pause, one in asked if one.id in keys}

    async def of_bare(self, value: JsonValue) -> ResumeResult | None:
        """The reply to the same bare resume of a moment ago."""
        async with self._core.store.snapshot() as tx:
            recent = await tx.pauses.newest(self._thread_id, MOST_REMEMBERED)
            last = next((one for one in recent if one.status in _SETTLED), None)
            requests = await tx.requests.of_pauses([last.id]) if last else []
        found = interrupts_of(last, requests) if last else []
        if last is None or len(found) != 1 or not await self.is_repeat(found[0], value):
            return None
        return await self.first_reply(last)

    async def of_part(self, pause: Pause, interrupt: Interrupt, value: JsonValue) -> ResumeResult | None:
        """The reply to the same answer to an action that is settled, where others of its interrupt are left."""
        return await self.first_reply(pause) if await self._was_given(interrupt, value) else None

    async def of_breakpoint(self) -> ResumeResult | None:
        """The reply to the yes to a breakpoint of a moment ago, where nothing else has begun since."""
        async with self._core.store.snapshot() as tx:
            recent = await tx.pauses.newest(self._thread_id, 2)
            last = next((one for one in recent if one.status in _SETTLED), None)
            requests = await tx.requests.of_pauses([last.id]) if last else []
            runs = await tx.runs.newest(self._thread_id, 1)
        if last is None or not requests or not all(map(is_breakpoint, requests)):
            return None
        if not await self._is_same(requests, [yes(one) for one in requests]):
            return None
        reply = await self.first_reply(last)
        return reply if runs and runs[0].id == reply.run_id else None

    async def is_repeat(self, interrupt: Interrupt, value: JsonValue) -> bool:
        return not interrupt.pending_requests and await self._was_given(interrupt, value)

    async def _was_given(self, interrupt: Interrupt, value: JsonValue) -> bool:
        """Whether this is what the same caller gave last to the interrupt, or to a part of it."""
        at = max((one.settled_at for one in interrupt.settled_requests if one.settled_at), default=None)
        last = [one for one in interrupt.settled_requests if one.settled_at == at]
        try:
            return bool(last) and await self._is_same(last, answers.read(last, value, self._convert))
        except InvalidAnswer:
            return False

    async def _is_same(self, requests: Sequence[Request], replies: Sequence[Reply]) -> bool:
        async with self._core.store.snapshot() as tx:
            given = await tx.answers.of_requests([one.id for one in requests])
        by_id = {one.request_id: one for one in replies}
        return len(replies) == len(requests) and all(
            self._is_own(one, given.get(one.id), by_id.get(one.id)) for one in requests
        )

    def _is_own(self, request: Request, answer: Answer | None, reply: Reply | None) -> bool:
        if answer is None or reply is None or reply.value is None:
            return False
        is_recent = self._core.clock.now() - answer.at < REPEATED_WITHIN
        if not is_recent or answer.by_id != self._caller.id or answer.source != SOURCE:
            return False
        try:
            return request.check(reply.value) == answer.value
        except InvalidAnswer:
            return False

    async def first_reply(self, pause: Pause) -> ResumeResult:
        async with self._core.store.snapshot() as tx:
            runs = await tx.runs.newest(self._thread_id, MOST_REMEMBERED)
        place = next((n for n, one in enumerate(runs) if one.id == pause.run_id), 0)
        later = next((one for one in reversed(runs[:place]) if one.cause is RunCause.ANSWER), None)
        if pause.status is PauseStatus.OPEN or later is None:
            return ResumeResult(pause.run_id, 0, goes_on=False)
        return ResumeResult(later.id, later.started_seq - 1, goes_on=True)


def yes(request: Request) -> Reply:
    return Reply(request.id, {"decision": "accept"})
