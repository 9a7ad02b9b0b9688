"""More time for a request, while there is some left."""

from datetime import timedelta

from interlock.domain import event_json
from interlock.domain.errors import Conflict, FieldError, InvalidInput, NotFound
from interlock.domain.event import RequestExtended
from interlock.domain.principal import Principal
from interlock.domain.request import Request, RequestStatus, warning_before
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import overdue, settlement_error
from interlock.services.threads.threads import answerable

LONGEST = 24 * 3600.0


async def extend(core: Core, principal: Principal, request_id: str, seconds: float) -> Request:
    """Move the deadline of a pending request; `Conflict` where it has none, or its asker wants it left alone."""
    if not 0 < seconds <= LONGEST:
        message = f"seconds must be above 0 and at most {LONGEST:g}"
        raise InvalidInput(message, [FieldError("seconds", "range", message)])
    async with unit(core) as work:
        request = await work.tx.requests.get(request_id)
        if request is None:
            raise NotFound("there is no such request", request_id=request_id)
        answerable(principal, await work.tx.threads.lock(request.thread_id))
        # As it is now that nobody else can change it.
        request = await work.tx.requests.get(request_id) or request
        extended = await _extend(work, request, seconds)
        assert extended.deadline is not None
        event = RequestExtended(request_id, request.pause_id, extended.deadline, principal.name)
        await work.tx.audit.append(
            request.thread_id, principal, "request.extended", event_json.to_json(event), work.now
        )
        await work.record(request.thread_id, event)
    core.deadline_set.set()
    return extended


async def _extend(work: Unit, request: Request, seconds: float) -> Request:
    if request.status is not RequestStatus.PENDING:
        raise await settlement_error(work, request.id)
    if request.deadline is None:
        raise Conflict("this request has no deadline")
    if request.deadline <= work.now:
        raise overdue(request)
    if not request.body.extendable:
        raise Conflict("whoever asked this does not want its deadline moved")
    deadline = request.deadline + timedelta(seconds=seconds)
    left = (deadline - work.now).total_seconds()
    if not await work.tx.requests.extend(request.id, deadline, deadline - warning_before(left)):
        raise await settlement_error(work, request.id)
    extended = await work.tx.requests.get(request.id)
    assert extended is not None
    return extended
