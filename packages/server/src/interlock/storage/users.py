"""The people who may sign in."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, exists, func, select, update

from interlock.domain.errors import Conflict
from interlock.domain.principal import Role, User
from interlock.storage._repository import Repository, batched, insert_for
from interlock.storage.access import SqlAccess
from interlock.storage.key_ring import TOKENS, key_id
from interlock.storage.schema import ended_tokens, server_keys, sign_ins, users

_ADDING_USERS = 0x696E7465726C6F63
"""The number of an advisory lock; any will do that nobody else uses."""
_BY_ID = select(users).where(users.c.id == bindparam("user_id"))
_LOCKED = _BY_ID.with_for_update()
_BY_NAME = select(users).where(users.c.username == bindparam("username"))
_ENDED = exists().where(
    ended_tokens.c.user_id == bindparam("user_id"), ended_tokens.c.issued_at == bindparam("issued_at")
)
# In the database, and not in what a server remembers: another process may have retired the key.
_KEY_HOLDS = exists().where(server_keys.c.purpose == TOKENS, server_keys.c.id == bindparam("key"))
_IS_ALLOWED = users.c.disabled_at.is_(None) & users.c.deleted_at.is_(None)
_BY_TOKEN = _BY_ID.where(users.c.tokens_after <= bindparam("issued_at"), _IS_ALLOWED, ~_ENDED, _KEY_HOLDS)


class SqlUsers(Repository):
    async def add(self, user: User) -> None:
        added = await self._changed(
            insert_for(users, is_postgres=self._is_postgres).on_conflict_do_nothing(),
            {
                "id": user.id,
                "username": user.username,
                "password_hash": user.password_hash,
                "role": user.role,
                "reviews": list(user.reviews),
                "created_at": user.created_at,
                "tokens_after": user.tokens_after,
            },
        )
        if not added:
            raise Conflict(f"the name {user.username!r} is taken")

    async def get(self, user_id: str) -> User | None:
        found = await self._connection.execute(_BY_ID, {"user_id": user_id})
        return _user(found.one_or_none())

    async def lock(self, user_id: str) -> User | None:
        found = await self._connection.execute(_LOCKED, {"user_id": user_id})
        return _user(found.one_or_none())

    async def by_name(self, username: str) -> User | None:
        found = await self._connection.execute(_BY_NAME, {"username": username})
        return _user(found.one_or_none())

    async def all(self) -> list[User]:
        found = await self._connection.execute(select(users).order_by(users.c.username))
        return [user for row in found if (user := _user(row))]

    async def names(self) -> list[str]:
        return list(await self._connection.scalars(select(users.c.username)))

    async def names_of(self, user_ids: Collection[str]) -> dict[str, str]:
        names: dict[str, str] = {}
        for some in batched(user_ids):
            found = await self._connection.execute(select(users.c.id, users.c.username).where(users.c.id.in_(some)))
            names |= {row.id: row.username for row in found}
        return names

    async def alone(self) -> None:
        # SQLite has one writer at a time anyway.
        if self._is_postgres:
            await self._connection.execute(select(func.pg_advisory_xact_lock(_ADDING_USERS)))

    async def count(self) -> int:
        return await self._connection.scalar(select(func.count()).select_from(users)) or 0

    async def set_password(self, user_id: str, password_hash: str, tokens_after: datetime) -> int:
        changed = update(users).where(users.c.id == user_id)
        await self._connection.execute(changed.values(password_hash=password_hash))
        return await self.end_tokens(user_id, tokens_after)

    async def set_role(self, user_id: str, role: Role, reviews: Sequence[str]) -> None:
        changed = update(users).where(users.c.id == user_id)
        await self._connection.execute(changed.values(role=role, reviews=list(reviews)))
        await SqlAccess(self._connection).record_change(user_id)

    async def count_admins(self) -> int:
        admins = select(func.count()).select_from(users).where(users.c.role == Role.ADMIN, _IS_ALLOWED)
        return await self._connection.scalar(admins) or 0

    async def set_disabled(self, user_id: str, at: datetime | None) -> None:
        await self._connection.execute(update(users).where(users.c.id == user_id).values(disabled_at=at))
        await SqlAccess(self._connection).record_change(user_id)

    async def delete(self, user_id: str, at: datetime) -> None:
        # Without a password nobody signs in on a server of an earlier version either.
        deletion = update(users).where(users.c.id == user_id).values(deleted_at=at, password_hash="")
        await self._connection.execute(deletion)
        await SqlAccess(self._connection).record_change(user_id)

    async def to_clear(self) -> list[tuple[User, datetime]]:
        left = select(users).where(users.c.deleted_at.is_not(None), users.c.cleared_at.is_(None))
        found = [_user(row) for row in await self._connection.execute(left.order_by(users.c.deleted_at))]
        return [(user, user.deleted_at) for user in found if user and user.deleted_at]

    async def mark_cleared(self, user_id: str, at: datetime) -> None:
        await self._connection.execute(update(users).where(users.c.id == user_id).values(cleared_at=at))

    async def by_token(self, user_id: str, issued_at: datetime, key: int) -> User | None:
        token = {"user_id": user_id, "issued_at": issued_at, "key": key_id(key)}
        found = await self._connection.execute(_BY_TOKEN, token)
        return _user(found.one_or_none())

    async def end_tokens(self, user_id: str, tokens_after: datetime, *, but: datetime | None = None) -> int:
        # One by one too: a server whose clock is ahead may have issued one that is younger than this.
        of_user = sign_ins.c.user_id == user_id
        is_sign_in = of_user if but is None else of_user & (sign_ins.c.issued_at != but)
        columns = sign_ins.c.user_id, sign_ins.c.issued_at, sign_ins.c.expires_at
        ended = insert_for(ended_tokens, is_postgres=self._is_postgres).from_select(
            ["user_id", "issued_at", "expires_at"], select(*columns).where(is_sign_in)
        )
        await self._connection.execute(ended.on_conflict_do_nothing())
        result = await self._connection.execute(delete(sign_ins).where(is_sign_in))
        changed = update(users).where(users.c.id == user_id)
        await self._connection.execute(changed.values(tokens_after=tokens_after))
        await SqlAccess(self._connection).record_change(user_id)
        return result.rowcount

    async def end_token(self, user_id: str, issued_at: datetime, expires_at: datetime, now: datetime) -> None:
        await self._connection.execute(delete(ended_tokens).where(ended_tokens.c.expires_at < now))
        await self._connection.execute(
            insert_for(ended_tokens, is_postgres=self._is_postgres).on_conflict_do_nothing(),
            {"user_id": user_id, "issued_at": issued_at, "expires_at": expires_at},
        )
        is_sign_in = sign_ins.c.user_id == user_id, sign_ins.c.issued_at == issued_at
        await self._connection.execute(delete(sign_ins).where(*is_sign_in))
        await SqlAccess(self._connection).record_change(user_id)


def _user(row: Row[Any] | None) -> User | None:
    if row is None:
        return None
    return User(
        id=row.id,
        username=row.username,
        password_hash=row.password_hash,
        role=Role(row.role),
        created_at=row.created_at,
        tokens_after=row.tokens_after,
        reviews=tuple(row.reviews),
        disabled_at=row.disabled_at,
        deleted_at=row.deleted_at,
    )
