"""Where people are signed in: what is told of each token, beside the tables that say whether it holds."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, exists, func, select

from interlock.domain.sign_in import SignIn
from interlock.storage._repository import Repository, insert_for
from interlock.storage.key_ring import TOKENS, key_id
from interlock.storage.schema import ended_tokens, server_keys, sign_ins, users


class SqlSignIns(Repository):
    async def add(self, sign_in: SignIn) -> None:
        first = insert_for(sign_ins, is_postgres=self._is_postgres).values(
            id=sign_in.id,
            user_id=sign_in.user_id,
            issued_at=sign_in.issued_at,
            expires_at=sign_in.expires_at,
            token_key=sign_in.token_key,
            how=sign_in.how,
            address=sign_in.address,
            program=sign_in.program,
            used_at=sign_in.used_at,
            identity_id=sign_in.identity_id,
        )
        known = [sign_ins.c.user_id, sign_ins.c.issued_at]
        used = {"used_at": sign_in.used_at}
        later = sign_ins.c.used_at < sign_in.used_at
        await self._connection.execute(first.on_conflict_do_update(index_elements=known, set_=used, where=later))

    async def get(self, sign_in_id: str) -> SignIn | None:
        row = (await self._connection.execute(select(sign_ins).where(sign_ins.c.id == sign_in_id))).one_or_none()
        return None if row is None else _sign_in(row)

    async def of_token(self, user_id: str, issued_at: datetime) -> SignIn | None:
        is_sign_in = sign_ins.c.user_id == user_id, sign_ins.c.issued_at == issued_at
        row = (await self._connection.execute(select(sign_ins).where(*is_sign_in))).one_or_none()
        return None if row is None else _sign_in(row)

    async def of_identity(self, user_id: str, identity_id: str) -> list[SignIn]:
        # By the user first, for which there is an index.
        through = sign_ins.c.user_id == user_id, sign_ins.c.identity_id == identity_id
        return [_sign_in(row) for row in await self._connection.execute(select(sign_ins).where(*through))]

    async def page(self, user_id: str, now: datetime, limit: int) -> tuple[list[SignIn], int]:
        keys = {key_id(number): number for number in await self._keys(user_id)}
        named = server_keys.c.purpose == TOKENS, server_keys.c.id.in_(keys)
        live = [keys[name] for name in await self._connection.scalars(select(server_keys.c.id).where(*named))]
        holds = (*_holds(user_id, now), sign_ins.c.token_key.in_(live))
        total = await self._connection.scalar(select(func.count()).select_from(sign_ins).where(*holds))
        ordered = select(sign_ins).where(*holds).order_by(sign_ins.c.used_at.desc(), sign_ins.c.id)
        return [_sign_in(row) for row in await self._connection.execute(ordered.limit(limit))], total or 0

    async def purge(self, before: datetime) -> None:
        await self._connection.execute(delete(sign_ins).where(sign_ins.c.expires_at < before))

    async def _keys(self, user_id: str) -> list[int]:
        used = select(sign_ins.c.token_key).where(sign_ins.c.user_id == user_id).distinct()
        return list(await self._connection.scalars(used))


def _holds(user_id: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """As `Users.by_token`, but for the key."""
    ended = exists().where(
        ended_tokens.c.user_id == sign_ins.c.user_id, ended_tokens.c.issued_at == sign_ins.c.issued_at
    )
    after = exists().where(users.c.id == sign_ins.c.user_id, users.c.tokens_after <= sign_ins.c.issued_at)
    return sign_ins.c.user_id == user_id, sign_ins.c.expires_at > now, after, ~ended


def _sign_in(row: Row[Any]) -> SignIn:
    return SignIn(
        id=row.id,
        user_id=row.user_id,
        issued_at=row.issued_at,
        expires_at=row.expires_at,
        token_key=row.token_key,
        used_at=row.used_at,
        how=row.how,
        address=row.address,
        program=row.program,
        identity_id=row.identity_id,
    )
