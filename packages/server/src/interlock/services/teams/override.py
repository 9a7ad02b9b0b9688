"""Break glass: an admin ends alone what is put to others. Off unless the operator turns it on.

Nobody completes what they asked for themselves, where whoever asked is no candidate; that holds here too.
"""

import logging
from dataclasses import replace

from interlock.domain.errors import Conflict, FieldError, Forbidden, InvalidAnswer
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal, Role
from interlock.domain.request import OVERRIDE, Request, RequestStatus
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.core import Unit
from interlock.services.requests.settling import Settlement
from interlock.services.teams.eligibility import RequestAccess
from interlock.services.teams.routing import askers
from interlock.services.teams.voting import check_answer

logger = logging.getLogger(__name__)


async def may_override(
    tx: Transaction, principal: Principal, thread: Thread, request: Request, access: RequestAccess
) -> bool:
    """Whether it is of use to somebody to whom it is not forbidden. That it is on, the caller knows."""
    if request.routing is None or principal.role is not Role.ADMIN:
        return False
    needs_others = request.routing.terms.is_vote or not access.may_answer
    return needs_others and not await _has_asked(tx, principal, thread, request)


def check_override(work: Unit, principal: Principal, request: Request, reason: str) -> None:
    """What can be said without its conversation; a drill is refused with the same words as a request without terms."""
    if not work.core.settings.break_glass:
        raise Forbidden("nobody answers alone what is put to others on this server: INTERLOCK_BREAK_GLASS is off")
    if principal.role is not Role.ADMIN:
        raise Forbidden("only an admin answers alone what is put to others")
    if not reason.strip():
        message = "say why it cannot wait for those who are asked"
        raise InvalidAnswer(message, [FieldError("override.reason", "missing", message)])
    if request.routing is None:
        raise Conflict("this request is put to nobody by name: whoever may answer it does")


async def overridden(
    work: Unit, thread: Thread, request: Request, how: Settlement, reason: str, code: str | None
) -> Settlement:
    """The end that an admin brings about alone, with the votes that were given before."""
    if request.status is not RequestStatus.PENDING:
        # Who comes second is told by whom it was settled.
        return how
    check_override(work, how.by, request, reason)
    assert request.routing is not None
    if how.value is None or (isinstance(how.value, ApprovalAnswer) and how.value.decision == "reject"):
        message = "an admin refuses and cancels as it is: leave override out"
        raise InvalidAnswer(message, [FieldError("override", "not_allowed", message)])
    if await _has_asked(work.tx, how.by, thread, request):
        raise Forbidden("who asked for it does not answer it, alone neither")
    check_answer(request.routing, request, how, code)
    votes = [
        {"by": one.name, "yes": one.is_yes, "at": to_iso(one.at), "source": one.source}
        for one in await work.tx.routes.votes(request.id)
    ]
    logger.warning("%s answered %s alone, which is put to others (INTERLOCK_BREAK_GLASS)", how.by.name, request.id)
    said = {**how.metadata, "override": {"reason": reason.strip(), "via": how.source}, "votes": votes}
    return replace(how, source=OVERRIDE, reason=reason.strip(), metadata=said)


async def _has_asked(tx: Transaction, principal: Principal, thread: Thread, request: Request) -> bool:
    assert request.routing is not None
    terms = request.routing.terms
    return terms.separate and principal.id in terms.excluded and principal.id in await askers(tx, thread)
