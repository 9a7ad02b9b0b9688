"""A resume is an answer: settled when it arrives, or refused. It is never queued, and never meant for a later question.

By its ids it names its questions. A bare one means the question that its sender was shown; the same one again within a
minute is the repeat of a request whose reply was lost. What was shown is known to this process only: after a restart,
and to another server, a bare one means the only question that its thread has ever had, and no other.

The reply to an answer may show the next question on a connection that seems to be open and is not. Pages look at the
thread after every reply: of a click, what only such a reply showed was seen by nobody.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock.domain.errors import AlreadySettled
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.principal import Principal
from interlock.domain.request import Pause, PauseStatus, Request, RequestEnd, RequestStatus
from interlock.faces.http.guard import is_click, is_fetched
from interlock.faces.langgraph import answers
from interlock.faces.langgraph.errors import Refusal
from interlock.faces.langgraph.interrupts import (
    Interrupt,
    interrupts_of,
    is_breakpoint,
    is_wire_id,
    open_interrupts,
    view_of,
)
from interlock.faces.langgraph.repeats import REPEATED_WITHIN, SOURCE, Repeats, ResumeResult, yes
from interlock.faces.langgraph.scene import Scene
from interlock.services.core import Core
from interlock.services.memory import DOUBLE_CLICK
from interlock.services.requests import answering
from interlock.services.requests.answering import Reply, Sender
from interlock.services.threads.threads import answerable, nothing_pending
from interlock.texts import Locale


class _Changed(Exception):
    """What is open is not what was open when the resume arrived."""


class Resume:
    """One resume of one caller."""

    def __init__(
        self,
        core: Core,
        caller: Principal,
        thread_id: str,
        locale: Locale,
        *,
        is_click: bool,
        is_fetched: bool,
        detached: bool = True,
    ) -> None:
        self._core = core
        self._caller = caller
        self._thread_id = thread_id
        self._locale: Locale = locale
        self._is_click = is_click
        self._is_fetched = is_fetched
        self._detached = detached
        self._convert = answers.converter(core.agents.schema)
        self._repeats = Repeats(core, caller, thread_id, self._convert)
        self._pause: Pause | None = None
        self._requests: list[Request] = []
        self._before: list[Request] = []
        """Those of the question before."""
        self._is_first = True

    @classmethod
    def of(cls, scene: Scene, thread_id: str, *, detached: bool = True) -> "Resume":
        return cls(
            scene.core,
            scene.caller,
            thread_id,
            scene.locale,
            is_click=is_click(scene.request),
            is_fetched=is_fetched(scene.request),
            detached=detached,
        )

    async def answer(self, value: JsonValue) -> ResumeResult:
        given = cast("JsonObject", value) if isinstance(value, dict) else {}
        by_ids = given if all(map(is_wire_id, given)) else {}
        if value is None:
            raise Refusal(422, "invalid_answer", "null is no answer")
        await self._look()
        if by_ids:
            return await self._by_ids(by_ids)
        if given.keys() & {one.id for one in self._open}:
            # Meant by ids: as a whole it would be an answer that nobody gave.
            other = next(key for key in given if not is_wire_id(key))
            raise self._refusal(409, "no_such_interrupt", "every key has to be the id of an interrupt", other)
        return await self._bare(value)

    async def pass_breakpoint(self) -> ResumeResult | None:
        """The yes to a breakpoint; None where the thread stands at none."""
        await self._look()
        stops = [one for one in self._requests if is_breakpoint(one)]
        if self._pause is None or not stops or self._open:
            return await self._repeats.of_breakpoint()
        if self._may_be_repeated(self._pause) and (repeat := await self._repeats.of_breakpoint()):
            return repeat
        if not self._is_in_view(self._pause):
            raise self._not_shown()
        return await self._pass(self._pause, stops)

    async def _look(self) -> None:
        async with self._core.store.snapshot() as tx:
            answerable(self._caller, await tx.threads.get(self._thread_id))
            pauses = await tx.pauses.newest(self._thread_id, 2)
            requests = await tx.requests.of_pauses([one.id for one in pauses])
        self._pause = next((one for one in pauses if one.status is PauseStatus.OPEN), None)
        self._is_first = len(pauses) < 2
        open_id = self._pause.id if self._pause else None
        self._requests = [one for one in requests if one.pause_id == open_id]
        self._before = [one for one in requests if one.pause_id != open_id]

    @property
    def _open(self) -> list[Interrupt]:
        return open_interrupts(self._pause, self._requests)

    async def _by_ids(self, given: Mapping[str, JsonValue]) -> ResumeResult:
        known = {one.id: one for one in self._open}
        if given.keys() <= known.keys() and self._pause is not None:
            named = [(known[key], value) for key, value in given.items()]
            return await self._answer(self._pause, named)
        past = await self._repeats.past(given.keys() - known.keys())
        missing = given.keys() - known.keys() - past.keys()
        if missing:
            raise self._refusal(409, "no_such_interrupt", "no such interrupt on this thread", sorted(missing)[0])
        repeats = [await self._repeats.is_repeat(one, given[key]) for key, (_, one) in past.items()]
        if len(past) == len(given) and all(repeats):
            pause, _ = next(iter(past.values()))
            return await self._repeats.first_reply(pause)
        key = next(iter(past))
        raise await self._refuse_settled(past[key][1])

    async def _bare(self, value: JsonValue) -> ResumeResult:
        waiting = self._open
        if len(waiting) > 1:
            message = "several interrupts are open: send {id: value}"
            raise self._refusal(422, "ambiguous", message)
        if self._pause is None or not waiting:
            if repeat := await self._repeats.of_bare(value):
                return repeat
            raise await self._nothing()
        if self._may_be_repeated(self._pause):
            repeat = await self._repeats.of_part(self._pause, waiting[0], value) or await self._repeats.of_bare(value)
            if repeat is not None:
                return repeat
        if not self._is_in_view(self._pause):
            raise self._not_shown()
        return await self._answer(self._pause, [(waiting[0], value)])

    def _may_be_repeated(self, pause: Pause) -> bool:
        """Whether the same once more may be meant for what was answered before. LangGraph's client for JavaScript sends
        a request again whose reply was lost; and a server of pages passes both halves of a double click on."""
        return not self._has_seen(pause) or (self._is_fetched and not self._has_looked(pause))

    def _is_in_view(self, pause: Pause) -> bool:
        if self._is_click and self._has_just_replied():
            return False
        return self._has_seen(pause) or self._can_be_no_other(pause)

    def _has_just_replied(self) -> bool:
        """As the database has it: the first half of a double click may have gone to another server."""
        now, name = self._core.clock.now(), self._caller.name
        own = [one for one in (*self._before, *self._requests) if one.ending and one.ending.by == name]
        return any(one.settled_at and now - one.settled_at < DOUBLE_CLICK for one in own)

    def _can_be_no_other(self, pause: Pause) -> bool:
        """Whether nothing else was ever asked on the thread. Of what was, a card may stand on a screen for hours, and
        a click on it must not mean what came after."""
        is_whole = self._is_first and all(one.status is RequestStatus.PENDING for one in self._requests)
        return is_whole and self._core.clock.now() - pause.created_at >= REPEATED_WITHIN

    def _has_seen(self, pause: Pause) -> bool:
        if self._is_click:
            return self._has_looked(pause)
        return self._core.seen_pauses.has_seen(view_of(pause, self._requests), self._caller.id)

    def _has_looked(self, pause: Pause) -> bool:
        """Whether more than the reply to an answer showed it."""
        return self._core.seen_pauses.has_looked(view_of(pause, self._requests), self._caller.id)

    def _not_shown(self) -> Refusal:
        return self._refusal(409, "not_shown", "this was sent before the present question was shown to you")

    async def _answer(self, pause: Pause, named: Sequence[tuple[Interrupt, JsonValue]]) -> ResumeResult:
        for one, value in named:
            if _is_by_place(value) and one.settled_requests and not self._has_looked(pause):
                # Meant for the places of what its sender saw: what is left has others.
                if repeat := await self._repeats.of_part(pause, one, value):
                    return repeat
                if not self._has_seen(pause):
                    raise self._not_shown()
        reads = [answers.read(one.pending_requests, value, self._convert) for one, value in named]
        replies = [reply for read in reads for reply in read]
        bound = {request.id for one, _ in named for request in one.pending_requests}

        def choose(pending: Sequence[Request]) -> list[Reply]:
            if not bound <= {one.id for one in pending}:
                raise _Changed
            return replies

        try:
            return await self._answer_pause(pause, choose)
        except (_Changed, AlreadySettled) as error:
            return await self._again(named, error)

    async def _pass(self, pause: Pause, stops: Sequence[Request]) -> ResumeResult:
        def choose(pending: Sequence[Request]) -> list[Reply]:
            targets = [one for one in pending if one in stops]
            if not targets:
                raise _Changed
            return [yes(one) for one in targets]

        try:
            return await self._answer_pause(pause, choose)
        except (_Changed, AlreadySettled):
            await self._look()
            if repeat := await self._repeats.of_breakpoint():
                return repeat
            raise await self._nothing() from None

    async def _answer_pause(self, pause: Pause, choose: answering.Choose) -> ResumeResult:
        sender = Sender(self._caller, SOURCE)
        settled = await answering.answer_pause(
            self._core, sender, self._thread_id, pause.id, choose, detached=self._detached
        )
        run_id = settled.run.id if settled.run else pause.run_id
        return ResumeResult(run_id, settled.seq, goes_on=settled.run is not None)

    async def _again(self, named: Sequence[tuple[Interrupt, JsonValue]], error: Exception) -> ResumeResult:
        """Somebody was first: the same caller with the same answer, who gets that reply, or another one."""
        pause = self._pause
        await self._look()
        assert pause is not None
        async with self._core.store.snapshot() as tx:
            requests = await tx.requests.of_pauses([pause.id])
            now = await tx.pauses.get(pause.id)
        present = {one.id: one for one in interrupts_of(pause, requests)}
        found = [(present[one.id], value) for one, value in named if one.id in present]
        if found and now and all([await self._repeats.is_repeat(one, value) for one, value in found]):
            return await self._repeats.first_reply(now)
        if isinstance(error, AlreadySettled):
            raise self._refusal(409, "already_settled", error.message, named[0][0].id, error.end)
        raise await self._refuse_settled(found[0][0] if found else named[0][0])

    async def _nothing(self) -> Refusal:
        async with self._core.store.snapshot() as tx:
            thread = answerable(self._caller, await tx.threads.get(self._thread_id))
            error = await nothing_pending(tx, thread)
        return self._refusal(409, "nothing_pending", "nothing waits for an answer here", end=error.end)

    async def _refuse_settled(self, interrupt: Interrupt) -> Refusal:
        last = max(interrupt.settled_requests or interrupt.requests, key=lambda one: one.settled_at or one.created_at)
        async with self._core.store.snapshot() as tx:
            answer = (await tx.answers.of_requests([last.id])).get(last.id)
        message = "this was answered already"
        return self._refusal(409, "already_settled", message, interrupt.id, RequestEnd.of(last, answer))

    def _refusal(
        self, status: int, code: str, message: str, interrupt_id: str | None = None, end: RequestEnd | None = None
    ) -> Refusal:
        # It does not count as shown: the third of three clicks would else answer what the second was refused for.
        still_open = [one.view(self._locale) for one in self._open]
        return Refusal(status, code, message, interrupts=still_open, interrupt_id=interrupt_id, end=end)


def _is_by_place(value: JsonValue) -> bool:
    """Whether it may say something of some of the actions only. Decisions are as many as were shown, or are refused."""
    return not (isinstance(value, dict) and "decisions" in value)


def is_goto_end(goto: Any) -> bool:
    names = cast("list[Any]", goto) if isinstance(goto, list) else [goto]
    return bool(names) and all(isinstance(one, str) and re.fullmatch("__end__", one) for one in names)
