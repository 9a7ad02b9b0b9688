"""A second opinion of a call, for a person who asks for it. No agent is ever sent it, and it settles nothing."""

import asyncio
import logging

from interlock.domain.canonical import digest
from interlock.domain.errors import Conflict, Forbidden, NotFound
from interlock.domain.kinds import ApprovalBody
from interlock.domain.opinion import Opinion, OpinionCall, OpinionEnd, opinion_call, opinion_text
from interlock.domain.principal import Principal
from interlock.domain.redaction import Redaction
from interlock.domain.request import Request
from interlock.ports.opinions import Adviser
from interlock.ports.store import Transaction
from interlock.services.core import Core, unit
from interlock.services.teams.claims import lock_request

logger = logging.getLogger(__name__)


async def second_opinion(core: Core, principal: Principal, request_id: str) -> Opinion:
    """Tell whom the operator named of the call, and the caller what they say of it.

    What leaves the server is in the audit trail before it does; nothing is locked meanwhile.
    """
    if principal.is_agent:
        raise Forbidden("an agent's key asks, and gets no opinion of what it asks")
    if core.adviser is None:
        raise NotFound("this server gives no second opinions: its operator has named nobody who does")
    call = await _begin(core, core.adviser, principal, request_id)
    if call is None:
        return Opinion(core.adviser.name, OpinionEnd.TOO_LONG)
    opinion = await _opinion(core, core.adviser, call)
    async with unit(core) as work:
        # Who may no longer see the request is told nothing of it.
        request, _, _ = await lock_request(work, principal, request_id)
        ended = {"request_id": request_id, "by": opinion.by, "end": opinion.end.value}
        if opinion.text is not None:
            ended["digest"] = digest(opinion.text)
        await work.tx.audit.append(request.thread_id, principal, "opinion.ended", ended, work.now)
    return opinion


async def _begin(core: Core, adviser: Adviser, principal: Principal, request_id: str) -> OpinionCall | None:
    async with unit(core) as work:
        request, _, _ = await lock_request(work, principal, request_id)
        if not isinstance(request.body, ApprovalBody) or request.is_in_doubt:
            raise Conflict("there are opinions of calls of tools only")
        call = opinion_call(request.body, await _confidential(work.tx, request))
        if call is None:
            return None
        asked = {"request_id": request_id, "by": adviser.name, "digest": call.digest}
        await work.tx.audit.append(request.thread_id, principal, "opinion.asked", asked, work.now)
    return call


async def _confidential(tx: Transaction, request: Request) -> Redaction:
    """All that was given in confidence on its conversation, or saved by whose it is."""
    given = await tx.secrets.of_thread(request.thread_id)
    saved = [await tx.saved_secrets.value(one.id) for one in await tx.saved_secrets.of_owner(request.owner_id)]
    return Redaction([*(value for _, value in given.values()), *saved])


async def _opinion(core: Core, adviser: Adviser, call: OpinionCall) -> Opinion:
    try:
        async with asyncio.timeout(core.settings.opinion_seconds):
            text = opinion_text(await adviser.opinion(call))
    except TimeoutError:
        return Opinion(adviser.name, OpinionEnd.LATE)
    except Exception as error:
        # Its text may hold what the model was told, or a key of the operator's.
        logger.warning("no second opinion: %s raised %s", adviser.name, type(error).__name__)
        return Opinion(adviser.name, OpinionEnd.FAILED)
    return Opinion(adviser.name, OpinionEnd.FAILED if text is None else OpinionEnd.GIVEN, text)
