"""Replies that cannot be taken: a person gets some tries, and then the request is refused for them."""

from interlock.domain.errors import AlreadySettled
from interlock.domain.request import Request, RequestKind
from interlock.services.answering import Reply, Sender, answer
from interlock.services.core import Core


async def count_malformed(core: Core, sender: Sender, request: Request, reason: str) -> int | None:
    """How many tries its owner has left; with the last one it is refused, or cancelled, for this reason.

    None for anybody else: nobody uses up another's tries.
    """
    if sender.principal.id != request.owner_id:
        return None
    left = core.policy.confirmation_retry_limit - core.attempts.fail(request.id)
    if left > 0:
        return left
    value = {"decision": "reject", "message": reason} if request.kind is RequestKind.APPROVAL else None
    try:
        await answer(core, sender, Reply(request.id, value, reason=reason))
    except AlreadySettled:
        # By somebody else, a moment before.
        return 0
    return 0
