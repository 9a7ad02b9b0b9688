"""Audit trails for the tests, and what somebody who can write to the database may do to them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, delete, func, insert, select, update

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.audit import Finding
from interlock.domain.kinds import ApprovalAnswer, EnvVarAnswer, RequestKind, Value
from interlock.domain.request import RequestStatus
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import Clock, SystemClock
from interlock.ports.store import Store
from interlock.services.audit import trail as auditing
from interlock.services.core import Core, unit
from interlock.services.requests.settling import Settlement, settle
from interlock.storage.database import Database
from interlock.storage.schema import audit, audit_heads
from tests.conformance.examples import ANN, a_body, a_pause, a_request, after, begin

Row = dict[str, Any]
OUT_OF_THE_WAY = 1_000_000


def core_on(store: Store, clock: Clock | None = None) -> Core:
    return Core(store, LocalBus(), clock or SystemClock(), NoAgents(), Argon2Passwords())


async def record(store: Store, count: int = 3, thread_id: str = "ann-1") -> None:
    async with store.transaction() as tx:
        await begin(tx, thread_id)
    for number in range(count):
        async with store.transaction() as tx:
            data = {"n": number, "text": "\0 \ud800 日本", "list": (1, 2.5)}
            await tx.audit.append(thread_id, ANN, "effect.done", data, after(number))


async def settle_one(
    store: Store, thread_id: str = "ann-1", *, request_id: str = "perm_1", kind: RequestKind = RequestKind.APPROVAL
) -> None:
    """Ask and answer one request on a thread that is there."""
    value: Value = ApprovalAnswer("accept")
    if kind is RequestKind.ENV_VAR:
        value = EnvVarAnswer({"KEY": "hush", "REGION": "eu"})
    request = a_request(request_id, f"pause-{request_id}", thread_id=thread_id, body=a_body(kind))
    core = core_on(store)
    async with unit(core) as work:
        await work.tx.pauses.add(a_pause(request.pause_id, thread_id), [request])
        await settle(work, request, Settlement(RequestStatus.ANSWERED, ANN, "threads", value=value))


async def findings(store: Store, against: Iterable[str] | None = None) -> list[Finding]:
    return list((await auditing.verify(core_on(store), against)).findings)


async def found(store: Store, against: Iterable[str] | None = None) -> list[tuple[str, str, int | None]]:
    return [(one.kind.value, one.chain, one.number) for one in await findings(store, against)]


@dataclass(frozen=True)
class Intruder:
    """Who can write to the database, and does not have the key."""

    database: Database
    chain: str = "ann-1"

    async def rows(self, table: Table = audit) -> list[Row]:
        async with self.database.read() as connection:
            query = select(table).where(table.c.thread_id == self.chain).order_by(table.c.number)
            return [dict(row._mapping) for row in await connection.execute(query)]  # pyright: ignore[reportPrivateUsage]

    async def last(self) -> int:
        async with self.database.read() as connection:
            query = select(func.max(audit.c.number)).where(audit.c.thread_id == self.chain)
            return await connection.scalar(query) or 0

    async def edit(self, number: int, /, **changes: Any) -> None:
        async with self.database.write() as connection:
            chosen = update(audit).where(audit.c.thread_id == self.chain, audit.c.number == number)
            await connection.execute(chosen.values(**changes))

    async def delete(self, first: int, last: int | None = None) -> None:
        async with self.database.write() as connection:
            mine = delete(audit).where(audit.c.thread_id == self.chain)
            await connection.execute(mine.where(audit.c.number.between(first, last or first)))

    async def swap(self, one: int, other: int) -> None:
        await self.edit(one, number=OUT_OF_THE_WAY)
        await self.edit(other, number=one)
        await self.edit(OUT_OF_THE_WAY, number=other)

    async def renumber(self, first: int, by: int) -> None:
        """Move all entries from `first` on; one by one, as no two may have the same number meanwhile."""
        numbers = range(first, await self.last() + 1)
        for number in numbers if by < 0 else reversed(numbers):
            await self.edit(number, number=number + by)

    async def add(self, number: int, **changes: Any) -> None:
        """Add an entry that looks like the first one."""
        row = (await self.rows())[0] | changes | {"number": number}
        async with self.database.write() as connection:
            await connection.execute(insert(audit), row)

    async def head(self) -> Row:
        (row,) = await self.rows(audit_heads)
        return row

    async def set_head(self, **changes: Any) -> None:
        async with self.database.write() as connection:
            mine = update(audit_heads).where(audit_heads.c.thread_id == self.chain)
            await connection.execute(mine.values(**changes))

    async def remove_head(self) -> None:
        async with self.database.write() as connection:
            await connection.execute(delete(audit_heads).where(audit_heads.c.thread_id == self.chain))

    async def remove_chain(self) -> None:
        await self.delete(1, await self.last())
        await self.remove_head()
