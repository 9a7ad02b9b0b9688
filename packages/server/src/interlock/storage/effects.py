"""The record of every tool execution."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, Row, bindparam, delete, insert, literal_column, null, select, update

from interlock.domain.effect import EFFECT, Effect, EffectKey, EffectState
from interlock.storage._repository import Repository, next_number, one_of
from interlock.storage.schema import effects

_ADD = insert(effects).values(number=next_number(effects.c.number))


_KEY = (
    effects.c.thread_id == bindparam("of_thread"),
    effects.c.task_id == bindparam("of_task"),
    effects.c.call_id == bindparam("of_call"),
)
_BY_KEY = select(effects).where(*_KEY)
_WITHOUT_RESULT = select(*(column for column in effects.c if column.name != "result"), null().label("result")).order_by(
    effects.c.number
)


@cache
def _change(state: EffectState, names: tuple[str, ...]) -> Executable:
    changes: dict[str, Any] = {name.removeprefix("new_"): bindparam(name) for name in names}
    changed = update(effects).where(*_KEY, one_of(effects.c.state, EFFECT.sources(state)))
    return changed.values(state=literal_column(f"'{state}'"), **changes)


@cache
def _of_thread(states: tuple[EffectState, ...]) -> Executable:
    mine = (effects.c.thread_id == bindparam("thread_id"), one_of(effects.c.state, states))
    return select(effects).where(*mine).order_by(effects.c.number)


class SqlEffects(Repository):
    async def get(self, key: EffectKey) -> Effect | None:
        row = (await self._connection.execute(_BY_KEY, _key_values(key))).one_or_none()
        return None if row is None else _effect(row)

    async def add(self, effect: Effect) -> None:
        parent = effect.parent
        await self._connection.execute(
            _ADD,
            {
                "thread_id": effect.key.thread_id,
                "of_thread": effect.key.thread_id,
                "task_id": effect.key.task_id,
                "call_id": effect.key.call_id,
                "run_id": effect.run_id,
                "epoch": effect.epoch,
                "tool": effect.tool,
                "args": effect.args,
                "digest": effect.digest,
                "state": effect.state,
                "idempotent": effect.idempotent,
                "asks": effect.asks,
                "result": effect.result,
                "parent_task_id": parent.task_id if parent else None,
                "parent_call_id": parent.call_id if parent else None,
                "error": effect.error,
                "created_at": effect.created_at,
                "updated_at": effect.updated_at,
            },
        )

    async def remove(self, key: EffectKey) -> None:
        await self._connection.execute(delete(effects).where(*_KEY), _key_values(key))

    async def change(
        self,
        key: EffectKey,
        state: EffectState,
        at: datetime,
        *,
        run_id: str | None = None,
        epoch: int | None = None,
        asks: int | None = None,
        result: bytes | None = None,
        error: str | None = None,
    ) -> bool:
        given = {"run_id": run_id, "epoch": epoch, "asks": asks, "result": result, "error": error, "updated_at": at}
        values = {f"new_{name}": value for name, value in given.items() if value is not None}
        return await self._changed(_change(state, tuple(values)), {**_key_values(key), **values})

    async def of_thread(self, thread_id: str, *states: EffectState) -> list[Effect]:
        found = await self._connection.execute(_of_thread(states), {"thread_id": thread_id})
        return [_effect(row) for row in found]

    async def inside(self, thread_id: str, keys: Collection[EffectKey]) -> list[Effect]:
        if not keys:
            return []
        found = await self._connection.execute(
            _WITHOUT_RESULT.where(
                effects.c.thread_id == thread_id, effects.c.parent_task_id.in_({key.task_id for key in keys})
            )
        )
        return [effect for row in found if (effect := _effect(row)).parent in keys]


def _key_values(key: EffectKey) -> dict[str, str]:
    return {"of_thread": key.thread_id, "of_task": key.task_id, "of_call": key.call_id}


def _effect(row: Row[Any]) -> Effect:
    parent = None
    if row.parent_task_id is not None:
        parent = EffectKey(row.thread_id, row.parent_task_id, row.parent_call_id)
    return Effect(
        key=EffectKey(row.thread_id, row.task_id, row.call_id),
        run_id=row.run_id,
        epoch=row.epoch,
        tool=row.tool,
        args=row.args,
        digest=row.digest,
        state=EffectState(row.state),
        idempotent=row.idempotent,
        asks=row.asks,
        created_at=row.created_at,
        updated_at=row.updated_at,
        result=row.result,
        parent=parent,
        error=row.error,
    )
