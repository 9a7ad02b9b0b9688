"""What a follower is told where a run was broken off in the middle of a message, and says it anew."""

import asyncio
from contextlib import aclosing

import pytest

from interlock.domain.event import Partial, Token
from interlock.ports.store import Store
from interlock.services.threads.following import follow
from tests.conformance.examples import a_thread
from tests.conformance.trails import core_on

pytestmark = pytest.mark.promise("P14")


async def test_what_is_said_anew_stands_in_place_of_what_was_said_before(store: Store) -> None:
    core, thread = core_on(store), a_thread()
    async with store.transaction() as tx:
        await tx.threads.add(thread)
    seq = thread.seq
    first = [Token(thread.id, seq, part, "broken-off", text) for part, text in ((1, "a"), (2, "b"))]
    anew = [Token(thread.id, seq, part, "anew", text) for part, text in ((1, "c"), (2, "d"))]
    told: list[Token | Partial] = []
    core.bus.publish(thread.id, first)
    async with asyncio.timeout(60), aclosing(follow(core, thread.id, seq)) as following:
        while len(told) < 3:
            item = await anext(following)
            if isinstance(item, Token | Partial):
                told.append(item)
                core.bus.publish(thread.id, anew)  # What comes twice is told once.
    assert [(type(one), one.text) for one in told] == [(Partial, "ab"), (Partial, "c"), (Token, "d")]
