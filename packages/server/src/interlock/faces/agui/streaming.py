"""One stream of this face: a run's events, and at its end what is true then.

However a stream began, it ends with the thread as it is: the requests that are open now, or how its last run ended. A
request that somebody answered elsewhere meanwhile is not shown as open.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from fastapi import Request

from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import Event, Live, RunEnded, RunStarted, ThreadDeleted
from interlock.domain.principal import Principal
from interlock.domain.request import PublicRequest
from interlock.domain.run import RunStatus
from interlock.faces.agui.events import (
    PROTOCOL,
    AguiEvent,
    Translator,
    encode,
    interrupt,
    messages_snapshot,
    state_snapshot,
)
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import KEEP_ALIVE
from interlock.faces.http.watching import Watch
from interlock.services.threads import threads
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow
from interlock.services.threads.threads import ThreadView
from interlock.texts import threads_text as text

SUCCESS: AguiEvent = {"type": "success"}


@dataclass(frozen=True, slots=True)
class RunNames:
    """What the client calls its thread, its run and its messages."""

    thread_id: str
    run_id: str
    knows_cancelled: bool
    """Clients from before 1.0, which name no version, fail on an outcome that they do not know."""
    messages: Mapping[str, str]
    """Our ids of messages, and its own."""


class RunStream:
    def __init__(self, request: Request, principal: Principal, thread_id: str, names: RunNames) -> None:
        self._request = request
        self._state = state_of(request)
        self._principal = principal
        self._thread_id = thread_id
        self._names = names
        self._watch = Watch(request)
        self._translator = Translator(locale_of(request))

    async def refusal(self, code: str, message: str) -> AsyncGenerator[bytes]:
        yield encode(self._run_started())
        yield encode(_error(message, code))

    async def nothing(self) -> AsyncGenerator[bytes]:
        """Of a thread that there is not yet."""
        for event in (self._run_started(), messages_snapshot([], {}), *self._run_finished(SUCCESS)):
            yield encode(event)

    async def run(self, run_id: str, after: int) -> AsyncGenerator[bytes]:
        """What a run does, and then what is true."""
        yield encode(self._run_started())
        async for event in self._follow(run_id, after):
            yield event

    async def present(self, before: Iterable[AguiEvent] = (), *, tells_failure: bool = False) -> AsyncGenerator[bytes]:
        """What is true now: a run that is under way is followed from its beginning.

        `tells_failure` is for whoever sends again what they got no reply to; a page that is loaded has nothing to do
        with a run that failed long ago.
        """
        yield encode(self._run_started())
        for event in before:
            yield encode(event)
        core = self._state.core
        async with core.store.snapshot() as tx:
            active = await tx.runs.active_of(self._thread_id)
            last = await tx.runs.last_of(self._thread_id)
        if active is not None:
            async for event in self._follow(active.id, active.started_seq - 1):
                yield event
            return
        view = await threads.view_thread(core, self._principal, self._thread_id)
        if view.open_requests:
            last_events = await self._interrupt(view)
        elif tells_failure and last is not None and last.status is RunStatus.FAILED:
            last_events = [*await self._snapshots(), _run_error(last.error)]
        else:
            last_events = [*await self._snapshots(), *self._run_finished(SUCCESS)]
        for event in last_events:
            yield encode(event)

    async def _follow(self, run_id: str, after: int) -> AsyncGenerator[bytes]:
        """Through every run that goes on where the one before it waited, as long as nobody has to answer."""
        core = self._state.core
        with count_follower(core, self._thread_id):
            try:
                async with aclosing(follow(core, self._thread_id, after)) as items:
                    async for item in items:
                        if isinstance(item, Event) and isinstance(item.data, RunStarted):
                            run_id = item.data.run_id
                        for frame in self._frames(item):
                            yield frame
                        last_events = await self._last_events(item, run_id)
                        for event in last_events:
                            yield encode(event)
                        if last_events:
                            return
            except StorageUnavailable:
                for event in self._last_words("unavailable"):
                    yield encode(event)

    def _frames(self, item: Live | None) -> list[bytes]:
        if item is None:
            return [KEEP_ALIVE] if self._watch.needs_sign_of_life() else []
        self._watch.spoke()
        return [encode(event) for event in self._translator.of(item)]

    async def _last_events(self, item: Live | None, run_id: str) -> list[AguiEvent]:
        """The last events of the stream, where it ends with this item."""
        if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
            return self._last_words("deleted")
        if isinstance(item, Event) and isinstance(item.data, RunEnded) and item.ends(run_id):
            return await self._end_of(item.data)
        reason = await self._watch.reason_to_end(self._thread_id, is_idle=item is None)
        return self._last_words(reason) if reason else []

    async def _end_of(self, ended: RunEnded) -> list[AguiEvent]:
        match ended.status:
            case RunStatus.PAUSED:
                view = await threads.view_thread(self._state.core, self._principal, self._thread_id)
                # Nothing is open: it was answered elsewhere, and the log has the run that goes on.
                return await self._interrupt(view) if view.open_requests else []
            case RunStatus.FAILED:
                return [*self._translator.close(), _run_error(ended.error)]
            case RunStatus.NOT_ANSWERED:
                return self._last_words("not_answered")
            case RunStatus.STOPPED:
                return self._run_finished({"type": "cancelled"} if self._names.knows_cancelled else None)
            case _:
                # A client that missed a part, or got one twice, has the right messages after it.
                return [*self._translator.close(), *await self._snapshots(), *self._run_finished(SUCCESS)]

    def _last_words(self, reason: str) -> list[AguiEvent]:
        return [*self._translator.close(), _error(text(reason, locale_of(self._request)), reason.upper())]

    async def _snapshots(self) -> list[AguiEvent]:
        core = self._state.core
        messages = await threads.history(core, self._principal, self._thread_id)
        thread = (await threads.view_thread(core, self._principal, self._thread_id)).thread
        state = (await core.agents.snapshot(thread)).values
        return [*state_snapshot(state), messages_snapshot(messages, self._names.messages)]

    async def _interrupt(self, view: ThreadView) -> list[AguiEvent]:
        assert view.pause is not None
        self._state.core.seen_pauses.show(view.pause.id, self._principal.id)
        locale, base = locale_of(self._request), str(self._request.base_url).rstrip("/")
        interrupts = [
            interrupt(PublicRequest.of(one), locale, f"{base}/requests/{one.id}") for one in view.open_requests
        ]
        snapshots = await self._snapshots()
        return [
            *self._translator.close(),
            *snapshots,
            *self._run_finished({"type": "interrupt", "interrupts": interrupts}),
        ]

    def _run_started(self) -> AguiEvent:
        return {"type": "RUN_STARTED", **self._ids(), "protocolVersion": PROTOCOL}

    def _run_finished(self, outcome: AguiEvent | None) -> list[AguiEvent]:
        finished = {"type": "RUN_FINISHED", **self._ids(), **({"outcome": outcome} if outcome else {})}
        return [*self._translator.close(), finished]

    def _ids(self) -> AguiEvent:
        return {"threadId": self._names.thread_id, "runId": self._names.run_id}


def _error(message: str, code: str) -> AguiEvent:
    return {"type": "RUN_ERROR", "message": message, "code": code}


def _run_error(error: str | None) -> AguiEvent:
    return _error(error or "the run failed", "RUN_FAILED")
