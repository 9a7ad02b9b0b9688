"""What people say of a request to each other. No agent is ever sent it."""

from collections.abc import Sequence

from interlock.domain.canonical import digest
from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.event import RequestCommented
from interlock.domain.ids import new_id
from interlock.domain.principal import Principal
from interlock.domain.team import LONGEST_COMMENT, Comment
from interlock.services.core import Core, unit
from interlock.services.teams.claims import lock_request
from interlock.services.teams.eligibility import access_to, is_blind
from interlock.services.threads.threads import NOT_YOURS

MOST_COMMENTS = 200


async def add(core: Core, principal: Principal, request_id: str, text: str) -> Comment:
    if principal.is_agent:
        raise Forbidden("an agent's key asks, and says nothing beside that")
    if not text.strip() or len(text) > LONGEST_COMMENT:
        message = f"a comment has 1 to {LONGEST_COMMENT} characters"
        raise InvalidInput(message, [FieldError("text", "length", message)])
    async with unit(core) as work:
        request, _, _ = await lock_request(work, principal, request_id)
        if len(await work.tx.routes.comments(request_id, MOST_COMMENTS)) == MOST_COMMENTS:
            raise InvalidInput(f"a request has {MOST_COMMENTS} comments at most")
        comment = Comment(new_id("comment"), request_id, principal.id, principal.name, text, work.now)
        await work.tx.routes.add_comment(comment)
        said = {"request_id": request_id, "comment_id": comment.id, "digest": digest(text)}
        await work.tx.audit.append(request.thread_id, principal, "request.commented", said, work.now)
        await work.record(request.thread_id, RequestCommented(request_id, request.pause_id, principal.name))
    return comment


async def of_request(core: Core, principal: Principal, request_id: str) -> Sequence[Comment]:
    """The oldest first. Who has a vote to give and has not given it reads their own only: before that everybody
    decides for themselves."""
    if principal.is_agent:
        raise Forbidden("an agent's key asks, and reads nothing of what people say")
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        if request is None:
            raise NotFound("there is no such request", request_id=request_id)
        thread = await tx.threads.get(request.thread_id)
        if thread is None or not (access := await access_to(tx, principal, thread, request)).may_see:
            raise Forbidden(NOT_YOURS)
        found = await tx.routes.comments(request_id, MOST_COMMENTS)
        sees_own_only = await is_blind(tx, principal, request, access)
    if sees_own_only:
        return [one for one in found if one.by_id == principal.id]
    return found
