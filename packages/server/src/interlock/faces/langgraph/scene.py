"""What every route of this face begins with: the thread that is meant, and who may see what of it."""

import uuid
from collections.abc import Sequence

from fastapi import Request
from fastapi.requests import HTTPConnection

from interlock.domain.errors import Forbidden
from interlock.domain.principal import Principal
from interlock.domain.request import PauseStatus
from interlock.domain.request import Request as Asked
from interlock.domain.run import Run, WaitingRun
from interlock.domain.run_input import NoInput
from interlock.domain.thread import Thread
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.langgraph.errors import Refusal, not_found
from interlock.faces.langgraph.views import ThreadPicture, assistant_id
from interlock.ports.store import Transaction
from interlock.services.core import Core
from interlock.services.threads.threads import driven, visible
from interlock.texts import Locale

RUNS = 1_000
"""How many of the newest of a thread are looked at for what somebody said of one of them."""


class Scene:
    """One request of one caller."""

    def __init__(self, request: HTTPConnection, caller: Principal) -> None:
        self.request = request
        self.caller = caller
        self.core: Core = state_of(request).core
        self.locale: Locale = locale_of(request)

    async def thread(self, thread_id: str, *, drives: bool = False) -> Thread:
        """The thread, if it is there and theirs; else 404, whichever it is."""
        async with self.core.store.snapshot() as tx:
            return self._require_thread(await tx.threads.get(thread_id), drives=drives)

    def _require_thread(self, thread: Thread | None, *, drives: bool = False) -> Thread:
        try:
            found = driven(self.caller, thread) if drives else visible(self.caller, thread)
        except Forbidden as error:
            raise not_found("thread") from error
        if found.is_outside:
            # Its agent runs elsewhere, and has no graph here.
            raise not_found("thread")
        return found

    async def picture(self, thread_id: str) -> ThreadPicture:
        async with self.core.store.snapshot() as tx:
            return await self.picture_of(tx, self._require_thread(await tx.threads.get(thread_id)))

    async def picture_of(self, tx: Transaction, thread: Thread) -> ThreadPicture:
        pauses = await tx.pauses.of_thread(thread.id, PauseStatus.OPEN, limit=1)
        requests = await tx.requests.of_pauses([pauses[0].id]) if pauses else []
        return ThreadPicture(thread, pauses[0] if pauses else None, requests, await tx.runs.last_of(thread.id))

    async def pictures(self, page: Sequence[Thread]) -> list[ThreadPicture]:
        """Of threads that they may see, read together."""
        ids = [one.id for one in page]
        async with self.core.store.snapshot() as tx:
            pauses, runs = await tx.pauses.open_of_each(ids), await tx.runs.last_of_each(ids)
            requests = await tx.requests.of_pauses([one.id for one in pauses.values()])
        by_pause: dict[str, list[Asked]] = {}
        for one in requests:
            by_pause.setdefault(one.pause_id, []).append(one)
        opened = [(thread, pauses.get(thread.id)) for thread in page]
        return [
            ThreadPicture(thread, pause, by_pause.get(pause.id, ()) if pause else (), runs.get(thread.id))
            for thread, pause in opened
        ]

    async def note_shown(self, picture: ThreadPicture, *, in_reply: bool = False) -> None:
        """What is on its way to a connection that is gone was shown to nobody. `in_reply`: to an answer."""
        is_gone = isinstance(self.request, Request) and await self.request.is_disconnected()
        if picture.view_id is not None and not is_gone:
            self.core.seen_pauses.show(picture.view_id, self.caller.id, in_reply=in_reply)

    async def run(self, thread: Thread, run_id: str) -> Run | WaitingRun:
        async with self.core.store.snapshot() as tx:
            found = await tx.runs.get(run_id) or await tx.waiting_runs.get(run_id)
        if found is None or found.thread_id != thread.id:
            raise not_found("run")
        return found

    async def tells_inner(self, thread: Thread, run_id: str) -> bool:
        """Whether the turn that a run is of was begun by somebody who wants to know of graphs inside."""
        async with self.core.store.snapshot() as tx:
            waiting = await tx.waiting_runs.get(run_id)
            runs: list[Run | WaitingRun] = [*([waiting] if waiting else []), *await tx.runs.newest(thread.id, RUNS)]
        ids = [one.id for one in runs]
        since = runs[ids.index(run_id) :] if run_id in ids else []
        turn = next((one for one in since if not isinstance(one.input, NoInput)), None)
        return turn is not None and not isinstance(turn.input, NoInput) and turn.input.settings.tells_inner

    def agent(self, named: str) -> str:
        """The agent that an assistant's id or name means."""
        names = self.core.agents.names
        for name in names:
            if named in (name, assistant_id(name)):
                return name
        if _is_uuid(named):
            raise not_found("assistant")
        raise Refusal(422, "invalid_argument", f"Invalid assistant ID {named!r}; known: {', '.join(names)}")


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def thread_uuid(text: str) -> str:
    """A thread's id that a client chose: a UUID, in its one spelling."""
    if not _is_uuid(text):
        raise Refusal(422, "invalid_argument", "thread_id must be a UUID")
    return str(uuid.UUID(text))
