"""What somebody left who was deleted: runs of theirs are stopped, and what waits for an answer is cancelled."""

from datetime import timedelta

from interlock.domain.principal import SYSTEM, User
from interlock.services.core import Core, unit
from interlock.services.threads.messages import interrupt

AT_ONCE = 100
LOOKED_FOR = timedelta(minutes=1)
"""For so long afterwards: something that was sent before may still have been on its way."""


async def clear_up(core: Core) -> None:
    """End what is left of everybody who is gone. What runs ends at its next safe point, and is looked at again."""
    async with core.store.snapshot() as tx:
        user_ids = await tx.users.to_clear()
    for user, since in user_ids:
        is_left = await _end_all(core, user)
        if not is_left and core.clock.now() - since > LOOKED_FOR:
            async with unit(core) as work:
                await work.tx.users.mark_cleared(user.id, work.now)


async def _end_all(core: Core, user: User) -> bool:
    """Whether anything was left."""
    last = ""
    is_left = False
    while True:
        async with core.store.snapshot() as tx:
            found = await tx.threads.busy_of(user.id, last, AT_ONCE)
        for thread_id in found:
            await interrupt(core, SYSTEM, thread_id, f"the account of {user.username} was deleted", "server")
        if not found:
            return is_left
        last, is_left = found[-1], True
