"""Saying that one looks at a request. It tells others, and keeps nobody from anything."""

from datetime import timedelta

from interlock.domain.errors import Forbidden
from interlock.domain.event import Looking
from interlock.domain.principal import Principal
from interlock.services.core import Core
from interlock.services.pending import view_request

LOOKS_FOR = timedelta(seconds=20)


async def look(core: Core, principal: Principal, request_id: str) -> None:
    """They have it on their screen; said again every few seconds for as long as that is so."""
    if principal.is_agent:
        raise Forbidden("an agent's key asks, and looks at nothing")
    view = await view_request(core, principal, request_id)
    looking = Looking(view.request.thread_id, request_id, principal.name, core.clock.now() + LOOKS_FOR)
    core.lookers.add(looking)
    core.bus.notify([looking])
