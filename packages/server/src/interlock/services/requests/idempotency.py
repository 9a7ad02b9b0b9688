"""Idempotency: the same key and body give the same bytes, whenever and wherever they come again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.principal import Principal
from interlock.services.core import Core, Unit, unit

LONGEST_KEY = 255

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IdempotentCall:
    """An idempotency key, what it was sent to, and the body that it came with."""

    key: str
    operation: str
    body: bytes

    def __post_init__(self) -> None:
        if not 0 < len(self.key) <= LONGEST_KEY:
            message = f"an idempotency key has 1 to {LONGEST_KEY} characters"
            raise InvalidInput(message, [FieldError("Idempotency-Key", "length", message)])


async def recall_reply(core: Core, principal: Principal, operation: str, key: str) -> bytes | None:
    """What became of a call that got no reply. None: nothing did, and what still comes under its key does nothing."""
    async with unit(core) as work:
        return await work.tx.replies.recall(principal.id, operation, key, work.now)


async def reply_once(
    core: Core,
    principal: Principal,
    call: IdempotentCall | None,
    act: Callable[[Unit], Awaitable[T]],
    reply: Callable[[T], bytes],
) -> bytes:
    """Do it and give the reply, or give the reply of the time that it was done.

    What is done and the reply are one transaction: there is no moment in which one is known and the other is not.
    """
    async with unit(core) as work:
        if call is None:
            return reply(await act(work))
        earlier = await work.tx.replies.claim(principal.id, call.operation, call.key, call.body, work.now)
        if earlier is not None:
            return earlier
        given = reply(await act(work))
        await work.tx.replies.keep(principal.id, call.operation, call.key, given)
    return given
