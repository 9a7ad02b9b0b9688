"""Drills on the page of a request: the same answers of the server as for a request, up to the one that tells."""

import json
from collections.abc import Callable
from datetime import timedelta

from fastapi import Request

from interlock.domain.drill import Drill
from interlock.domain.errors import NotFound
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import Frame
from interlock.faces.inbox import views
from interlock.services.core import Core
from interlock.services.requests import drills
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.inbox import FullView, PageView
from interlock.texts import Locale
from interlock_client import inbox as wire

LOOKED_BACK = timedelta(seconds=10)
"""What was written at a moment may be committed after it."""


async def find(request: Request, caller: Principal, request_id: str, missing: NotFound) -> Drill:
    """The caller's drill of this id; what was said of the request where there is none."""
    drill = await drills.find(state_of(request).core, caller, request_id)
    if drill is None:
        raise missing
    return drill


async def view(request: Request, caller: Principal, request_id: str, missing: NotFound) -> tuple[FullView, Drill]:
    drill = await find(request, caller, request_id, missing)
    return drills.view(drill, caller), drill


async def settle(request: Request, sender: Sender, reply: Reply, page: PageView | None, once: IdempotentCall) -> bytes:
    """What is decided of it, and at once what it was."""
    return await drills.answer_from_page(
        state_of(request).core, sender, reply, page, once, _renderer(locale_of(request))
    )


def _renderer(locale: Locale) -> Callable[[Drill], bytes]:
    def render(drill: Drill) -> bytes:
        status = "cancelled" if drill.decision == "cancel" else "answered"
        assert drill.settled_at is not None
        reply = {"request_id": drill.id, "status": status, "answered_at": to_iso(drill.settled_at)}
        return json.dumps({**reply, "drill": views.drill_view(drill, locale)}).encode()

    return render


class Arrivals:
    """What a page is told of drills, whenever it is looked."""

    def __init__(self, core: Core, caller: Principal, locale: Locale) -> None:
        self._core = core
        self._caller = caller
        self._locale: Locale = locale
        self._until = core.clock.now()
        self._told: set[tuple[str, bool]] = set()

    async def frames(self) -> list[Frame]:
        after, self._until = self._until - LOOKED_BACK, self._core.clock.now()
        moved = await drills.moved(self._core, self._caller, after, self._until)
        frames: list[Frame] = []
        for drill, entry in moved:
            name = drill.id, drill.settled_at is not None
            if name in self._told:
                continue
            self._told.add(name)
            if drill.settled_at is not None:
                frames.append(Frame("settled", _settlement(drill, self._caller)))
            else:
                arrival = wire.InboxEntry.model_validate(views.entry_view(entry, self._locale))
                frames.append(Frame("asked", arrival.model_dump(mode="json")))
        return frames


def _settlement(drill: Drill, caller: Principal) -> dict[str, object]:
    is_cancelled = drill.decision == "cancel"
    return {
        "request_id": drill.id,
        "conversation_id": drill.conversation_id,
        "status": "cancelled" if is_cancelled else "answered",
        "answered_by": caller.name,
        "answered_at": to_iso(drill.settled_at) if drill.settled_at else None,
        "source": "web",
        "value": None if is_cancelled else {"decision": drill.decision},
        "reason": None,
    }
