"""The servers of one database among others: a random number, and which settings of their workers came last."""

import secrets
from dataclasses import dataclass

from sqlalchemy import delete, select

from interlock.storage._repository import insert_for
from interlock.storage.database import Database
from interlock.storage.schema import marks

PREFIX = "deployment:"
_ID, _SETTINGS, _GENERATION = (f"{PREFIX}{name}" for name in ("id", "settings", "generation"))
_BITS = 63
"""What a number of the table holds."""

NONE_YET = delete(marks).where(marks.c.name.startswith(PREFIX, autoescape=True))
"""For a copy of a database: it is a deployment of its own."""


@dataclass(frozen=True, slots=True)
class Deployment:
    id: str
    generation: int
    """Raised by every start with other settings than those of the start before."""
    settings: str


async def deployment(database: Database, fingerprint: bytes) -> Deployment:
    """The deployment, once its newest settings are on record as those of this fingerprint."""
    settings = int.from_bytes(fingerprint) >> (8 * len(fingerprint) - _BITS)
    async with database.write() as connection:
        put = insert_for(marks, is_postgres=database.is_shared)
        first = put.values(name=_ID, value=secrets.randbits(_BITS))
        # The update changes nothing, and has whoever else starts wait until this one is done.
        insert = first.on_conflict_do_update(index_elements=["name"], set_={"value": marks.c.value})
        identity = await connection.scalar(insert.returning(marks.c.value))
        found = await connection.execute(select(marks.c.name, marks.c.value).where(marks.c.name.startswith(PREFIX)))
        known = {name: value for name, value in found}
        generation = known.get(_GENERATION, 0)
        if known.get(_SETTINGS) != settings:
            generation += 1
            for name, value in ((_SETTINGS, settings), (_GENERATION, generation)):
                one = put.values(name=name, value=value)
                await connection.execute(one.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
    return Deployment(f"{identity:016x}", generation, f"{settings:016x}")
