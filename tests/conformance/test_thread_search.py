"""Threads found by their metadata and by what else is known of them, held against `ports.threads.Threads`."""

from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.errors import Forbidden, InvalidInput
from interlock.domain.principal import Principal, Role
from interlock.domain.run import RunStatus
from interlock.domain.thread import ThreadStatus
from interlock.ports.filters import LAST_TOUCHED_FIRST, ThreadFilter, ThreadOrder, ThreadSort
from interlock.ports.store import Store
from interlock.services.core import Core
from interlock.services.threads import threads
from interlock.storage import _thread_search
from tests.conformance.examples import ANN, AT, a_run, a_thread, after
from tests.conformance.trails import core_on


@pytest.fixture
def core(store: Store) -> Core:
    return core_on(store)


BOB = Principal("u-bob", "bob", Role.OWNER)
ADMIN = Principal("u-root", "root", Role.ADMIN)


async def add(store: Store, *made: tuple[str, dict[str, Any]]) -> None:
    """Each touched a second after the one before."""
    async with store.transaction() as tx:
        for second, (thread_id, changes) in enumerate(made):
            await tx.threads.add(a_thread(thread_id, updated_at=after(second), **changes))


async def found(
    store: Store, offset: int = 0, limit: int = 10, order: ThreadOrder = LAST_TOUCHED_FIRST, **query: Any
) -> list[str]:
    """The ids of the page; the whole is counted beside it."""
    wanted = ThreadFilter(**query)
    async with store.snapshot() as tx:
        page = [one.id for one in await tx.threads.search(wanted, offset, limit, order)]
        assert await tx.threads.count(wanted) == len(await tx.threads.search(wanted, 0, 1_000))
    return page


async def test_metadata_are_read_back_and_changed(store: Store) -> None:
    noted = {"a": ["\0", "\ud800", "日本", None, 1.5, {"b": True}]}
    await add(store, ("ann-1", {"metadata": noted}), ("ann-2", {}))
    async with store.transaction() as tx:
        await tx.threads.update("ann-2", AT, metadata={"c": 1})
    async with store.snapshot() as tx:
        first, second = await tx.threads.get("ann-1"), await tx.threads.get("ann-2")
    assert first is not None
    assert second is not None
    assert (first.metadata, second.metadata) == (noted, {"c": 1})


@pytest.mark.parametrize(
    ("metadata", "ids"),
    [
        ({}, ["t-4", "t-3", "t-2", "t-1"]),
        ({"team": "a"}, ["t-3", "t-1"]),
        ({"team": "a", "n": 1}, ["t-1"]),
        ({"n": 1.0}, ["t-1"]),
        ({"n": True}, []),
        ({"deep": {"x": [2]}}, ["t-3"]),
        ({"per%cent_": "100%_/\\"}, ["t-4"]),
        ({"\ud800": "日本"}, ["t-2"]),
        ({"flag": True}, ["t-2"]),
        ({"team": "a' OR 1=1 --"}, []),
    ],
)
async def test_threads_are_found_by_what_their_metadata_contain(
    store: Store, metadata: dict[str, Any], ids: list[str]
) -> None:
    await add(
        store,
        ("t-1", {"metadata": {"team": "a", "n": 1}}),
        ("t-2", {"metadata": {"team": "b", "flag": True, "\ud800": "日本", "deep": {"team": "a"}}}),
        ("t-3", {"metadata": {"team": "a", "deep": {"x": [1, 2]}}}),
        ("t-4", {"metadata": {"per%cent_": "100%_/\\", "note": '"team":"a"'}}),
    )
    assert await found(store, metadata=metadata) == ids


async def test_a_filter_finds_by_status_agent_and_id_in_pages(store: Store) -> None:
    await add(
        store,
        ("t-1", {"status": ThreadStatus.PAUSED}),
        ("t-2", {"agent": "other"}),
        ("t-3", {"status": ThreadStatus.DELETED}),
        ("t-4", {"status": ThreadStatus.PAUSED, "agent": "other"}),
    )
    assert await found(store, statuses=(ThreadStatus.PAUSED,)) == ["t-4", "t-1"]
    assert await found(store, agents=("other",)) == ["t-4", "t-2"]
    assert await found(store, agents=()) == []
    assert await found(store, ids=("t-1", "t-3", "t-9")) == ["t-1"]
    assert await found(store, 1, 1) == ["t-2"]


async def test_a_thread_has_failed_while_its_last_run_has(store: Store) -> None:
    await add(store, ("t-1", {}), ("t-2", {}), ("t-3", {}), ("t-4", {"asker_id": "key-1"}))
    async with store.transaction() as tx:
        for number, (thread_id, status) in enumerate(
            [("t-1", RunStatus.FAILED), ("t-1", RunStatus.DONE), ("t-2", RunStatus.DONE), ("t-2", RunStatus.FAILED)]
        ):
            await tx.runs.add(a_run(f"run-{number}", thread_id, status=status))
    assert await found(store, has_failed=True) == ["t-2"]
    assert await found(store, has_failed=False, is_hosted=True) == ["t-3", "t-1"]
    assert await found(store, is_hosted=False) == ["t-4"]


@pytest.mark.parametrize("metadata", [{}, {"n": 1}])
@pytest.mark.parametrize("is_rising", [True, False])
@pytest.mark.parametrize(
    ("by", "ids"),
    [
        (ThreadSort.ID, ["t-1", "t-2", "t-3", "t-4"]),
        (ThreadSort.UPDATED, ["t-3", "t-1", "t-4", "t-2"]),
        (ThreadSort.CREATED, ["t-4", "t-3", "t-2", "t-1"]),
        (ThreadSort.STATUS, ["t-2", "t-4", "t-1", "t-3"]),
    ],
)
async def test_an_order_holds_over_pages(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    by: ThreadSort,
    ids: list[str],
    is_rising: bool,
    metadata: dict[str, Any],
) -> None:
    monkeypatch.setattr(_thread_search, "PAGE", 1)
    paused = {"status": ThreadStatus.PAUSED}
    await add(
        store,
        *(
            (
                one,
                {
                    "metadata": {"n": 1},
                    "created_at": AT - timedelta(seconds=int(one[-1])),
                    **(paused if one in ("t-1", "t-3") else {}),
                },
            )
            for one in ("t-3", "t-1", "t-4", "t-2")
        ),
    )
    order = ThreadOrder(by, is_rising)
    pages = [await found(store, offset, 2, order, metadata=metadata) for offset in (0, 2, 4)]
    assert [one for page in pages for one in page] == (ids if is_rising else ids[::-1])
    assert len(pages[1]) == 2


async def test_pages_of_a_search_by_metadata_have_no_gap_and_no_repeat(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_thread_search, "PAGE", 3)
    async with store.transaction() as tx:
        for number in range(20):
            # Many of one moment.
            changes: dict[str, Any] = {"metadata": {"n": number, "odd": number % 2}, "updated_at": after(number // 5)}
            await tx.threads.add(a_thread(f"t-{number:02}", **changes))
    odd = await found(store, 0, 100, metadata={"odd": 1})
    assert len(odd) == 10
    assert [one for offset in range(0, 12, 4) for one in await found(store, offset, 4, metadata={"odd": 1})] == odd


async def test_everybody_finds_what_they_may_see(store: Store, core: Core) -> None:
    outside = {"asker_id": "key-1", "agent": "mine"}
    await add(
        store,
        ("ann-1", {}),
        ("bob-1", {"owner_id": BOB.id}),
        ("bob-2", {"owner_id": BOB.id, "agent": "other"}),
        ("bob-3", {"owner_id": BOB.id, **outside}),
    )
    reviewer = Principal("u-rev", "rev", Role.REVIEWER, ("other", f"{BOB.id}/mine"))
    # Somebody else's agent of a name that they review.
    namesake = Principal("u-two", "two", Role.REVIEWER, ("mine",))
    agent = Principal("key-1", "key", Role.AGENT)

    async def of(principal: Principal) -> list[str]:
        return sorted(one.id for one in await threads.search_threads(core, principal))

    assert await of(ANN) == ["ann-1"]
    assert await of(BOB) == ["bob-1", "bob-2", "bob-3"]
    assert await of(ADMIN) == ["ann-1", "bob-1", "bob-2", "bob-3"]
    assert await of(reviewer) == ["bob-2", "bob-3"]
    assert await of(namesake) == []
    assert await of(agent) == ["bob-3"]


@pytest.mark.parametrize(("offset", "limit"), [(0, 0), (0, 1_002), (-1, 10), (1_000_001, 10)])
async def test_bounds_of_a_search_are_told(core: Core, offset: int, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit must be"):
        await threads.search_threads(core, ANN, offset=offset, limit=limit)


async def test_metadata_are_merged_by_who_may_drive_the_thread(store: Store, core: Core) -> None:
    await add(store, ("ann-1", {"metadata": {"a": 1}}))
    with pytest.raises(Forbidden):
        await threads.merge_metadata(core, BOB, "ann-1", {"a": 2})
    merged = await threads.merge_metadata(core, ANN, "ann-1", {"b": 2})
    assert merged.metadata == {"a": 1, "b": 2}
    assert (await threads.view_thread(core, ANN, "ann-1")).thread.metadata == {"a": 1, "b": 2}
