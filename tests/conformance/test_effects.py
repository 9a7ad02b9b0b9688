"""Effects, held against `ports.store.Effects`."""

import pytest
from sqlalchemy import insert

from interlock.domain.effect import EFFECT, EffectKey, EffectState
from interlock.ports.store import Store
from interlock.storage.database import Database
from interlock.storage.schema import checkpoints
from tests.conformance.examples import AT, a_key, after, an_effect


async def with_checkpoints(database: Database, *namespaces: str, thread_id: str = "ann-1") -> None:
    async with database.write() as connection:
        for number, ns in enumerate(namespaces):
            row = {"thread_id": thread_id, "ns": ns, "id": f"c{number}", "seq": number}
            await connection.execute(insert(checkpoints), {**row, "type": "t", "body": b"", "metadata": {}})


async def test_an_effect_is_read_back_as_it_was_added(store: Store) -> None:
    effect = an_effect(parent=a_key("outer"), result=b"\0\xff", error="e", idempotent=True, asks=2, args={"a": "\0"})
    async with store.transaction() as tx:
        await tx.effects.add(effect)
    async with store.snapshot() as tx:
        assert await tx.effects.get(effect.key) == effect
        assert await tx.effects.get(a_key("task-2")) is None


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


async def containers(store: Store, *keys: EffectKey) -> set[EffectKey]:
    async with store.snapshot() as tx:
        return await tx.effects.containers("ann-1", keys)


async def test_an_effect_with_another_one_inside_is_a_container(store: Store) -> None:
    outer, inner, other = a_key("outer", "c1"), a_key("inner", "c2"), a_key("outer", "c3")
    async with store.transaction() as tx:
        await tx.effects.add(an_effect(outer))
        await tx.effects.add(an_effect(inner, parent=outer))
        await tx.effects.add(an_effect(other))
    assert await containers(store, outer, inner, other) == {outer}
    assert await containers(store, inner) == set()
    assert await containers(store) == set()


async def test_neither_effects_without_a_tool_nor_a_graph_inside_make_a_container(
    store: Store, database: Database
) -> None:
    outer = a_key("outer", "c1")
    async with store.transaction() as tx:
        await tx.effects.add(an_effect(outer))
        await tx.effects.add(an_effect(a_key("outer", "effect:c1/pay"), parent=outer))
    await with_checkpoints(database, "", "tools:outer", "a:x|tools:outer|b:y")
    assert await containers(store, outer) == set()
