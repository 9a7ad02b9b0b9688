"""Effects, held against `ports.store.Effects`."""

from dataclasses import replace

import pytest

from interlock.domain.effect import EFFECT, EffectState
from interlock.ports.store import Store
from tests.conformance.examples import AT, a_key, after, an_effect


async def test_an_effect_is_read_back_as_it_was_added(store: Store) -> None:
    effect = an_effect(parent=a_key("outer"), result=b"\0\xff", error="e", idempotent=True, asks=2, args={"a": "\0"})
    async with store.transaction() as tx:
        await tx.effects.add(effect)
    async with store.snapshot() as tx:
        assert await tx.effects.get(effect.key) == effect
        assert await tx.effects.get(a_key("task-2")) is None


async def test_an_effect_that_is_removed_makes_room_for_another_with_its_key(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.effects.add(an_effect())
        await tx.effects.add(an_effect(key=a_key("task-2")))
        await tx.effects.remove(a_key())
        assert await tx.effects.get(a_key()) is None
        await tx.effects.add(an_effect(digest="other"))
    async with store.snapshot() as tx:
        found = await tx.effects.of_thread(a_key().thread_id, *EffectState)
    assert found == [an_effect(key=a_key("task-2")), an_effect(digest="other")]


async def test_a_change_sets_what_it_names_and_keeps_the_rest(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.effects.add(an_effect())
        assert await tx.effects.change(a_key(), EffectState.INTENDED, after(1), run_id="run-2", epoch=4)
        assert await tx.effects.change(a_key(), EffectState.DONE, after(2), result=b"r", asks=1)
        assert not await tx.effects.change(a_key(), EffectState.FAILED, after(3), error="late")
    async with store.snapshot() as tx:
        expected = an_effect(run_id="run-2", epoch=4, state=EffectState.DONE, result=b"r", asks=1, updated_at=after(2))
        assert await tx.effects.get(a_key()) == expected


@pytest.mark.parametrize("before", list(EffectState))
async def test_an_effect_changes_only_as_its_table_allows(store: Store, before: EffectState) -> None:
    async with store.transaction() as tx:
        for state in EffectState:
            key = a_key(f"task-{state}")
            await tx.effects.add(an_effect(key, state=before))
            changed = await tx.effects.change(key, state, AT)
            effect = await tx.effects.get(key)
            assert effect is not None
            assert changed is (state in EFFECT.table[before])
            assert effect.state is (state if changed else before)
        assert not await tx.effects.change(a_key("task-9"), EffectState.DONE, AT)


async def test_the_effects_of_a_thread_are_in_the_order_in_which_they_began(store: Store) -> None:
    states = (EffectState.INTENDED, EffectState.WAITING, EffectState.DONE)
    async with store.transaction() as tx:
        # Names and times run the other way, as after a clock that stepped back.
        for number in range(6):
            key = a_key(f"task-{9 - number}")
            await tx.effects.add(an_effect(key, state=states[number % 3], created_at=after(-number)))
        await tx.effects.add(an_effect(a_key(thread_id="ann-2")))
    async with store.snapshot() as tx:
        listed = await tx.effects.of_thread("ann-1", EffectState.INTENDED)
        assert [effect.key.task_id for effect in listed] == ["task-9", "task-6"]
        listed = await tx.effects.of_thread("ann-1", EffectState.INTENDED, EffectState.WAITING)
        assert [effect.key.task_id for effect in listed] == ["task-9", "task-8", "task-6", "task-5"]
        assert await tx.effects.of_thread("ann-1") == []


async def test_what_is_inside_an_effect_is_found_by_it_without_the_results(store: Store) -> None:
    outer, other = a_key("outer", "c1"), a_key("outer", "c3")
    inner = [an_effect(a_key(task, call), parent=outer) for task, call in [("z", "c2"), ("a", "c2"), ("outer", "x")]]
    async with store.transaction() as tx:
        await tx.effects.add(an_effect(outer))
        for one in inner:
            await tx.effects.add(replace(one, result=b"large"))
        await tx.effects.add(an_effect(other))
        await tx.effects.add(an_effect(a_key("y", "c9"), parent=other))
    async with store.snapshot() as tx:
        assert await tx.effects.inside("ann-1", [outer]) == inner
        assert await tx.effects.inside("ann-1", [inner[0].key]) == []
        assert await tx.effects.inside("ann-2", [outer]) == []
        assert await tx.effects.inside("ann-1", []) == []
