"""Waiting for an answer: of those who wait the store is not asked, and what no bus told of is seen all the same."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.request import RequestStatus
from interlock.ports.store import Store
from interlock.services.core import unit
from interlock.services.requests import pending
from interlock.services.requests.settling import Settlement, settle
from tests.conformance.examples import ANN, a_pending_request, a_request
from tests.conformance.trails import core_on


class Counting:
    """A store, and how often it was looked into."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._looked = asyncio.Event()
        self.looks = 0

    def snapshot(self) -> AbstractAsyncContextManager[Any]:
        self.looks += 1
        self._looked.set()
        return self._store.snapshot()

    async def reached(self, looks: int) -> None:
        while self.looks < looks:
            self._looked.clear()
            await self._looked.wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_those_who_wait_ask_nothing_of_the_store_until_something_happened(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "IDLE_SECONDS", 0.01)
    await a_pending_request(store)
    here, elsewhere = core_on(store), core_on(store)
    counting: Any = Counting(store)
    looking = replace(here, store=counting)
    waiting = [asyncio.create_task(pending.view_request(looking, ANN, "perm_1", wait=30)) for _ in range(20)]
    async with asyncio.timeout(60):
        await counting.reached(2 * len(waiting))
        # Until all have looked as often as they begin with: from then on each waits in vain, and never looks.
        looks = 0
        while counting.looks != looks:
            looks = counting.looks
            await asyncio.sleep(0.3)
            await here.pulse.beat(here)
    async with unit(elsewhere) as work:
        await settle(work, a_request(), Settlement(RequestStatus.ANSWERED, ANN, "web", value=ApprovalAnswer("accept")))
    await here.pulse.beat(here)
    async with asyncio.timeout(60):
        views = await asyncio.gather(*waiting)
    assert {view.request.status for view in views} == {RequestStatus.ANSWERED}
    assert counting.looks == looks + len(waiting)
