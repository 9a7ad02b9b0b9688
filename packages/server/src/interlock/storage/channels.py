"""Channels, whose credentials are sealed here, and the addresses at which people are reached on them."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, case, delete, exists, insert, literal, or_, select, update

from interlock.domain.channel import Address, Channel, LinkCode, Preferences, Shows
from interlock.domain.errors import NotFound
from interlock.domain.principal import Principal, Role
from interlock.ports.channels import Recipient
from interlock.storage._repository import Repository, SealedRepository, insert_for, record_values
from interlock.storage.schema import (
    addresses,
    aways,
    channel_holds,
    channels,
    link_codes,
    memberships,
    preferences,
    users,
)

_PUBLIC = tuple(column for column in channels.c if column.name != "sealed")
_LIVE = select(*_PUBLIC).where(channels.c.removed_at.is_(None)).order_by(channels.c.created_at, channels.c.id)
_THIS_CODE = and_(link_codes.c.user_id == bindparam("of_user"), link_codes.c.channel_id == bindparam("of_channel"))


class SqlChannels(SealedRepository):
    async def add(self, channel: Channel, credentials: Mapping[str, str]) -> None:
        sealed = await self._seal(json.dumps(dict(credentials)), context=_context(channel.id))
        values = record_values(channel, Channel)
        await self._connection.execute(insert(channels), values | {"sealed": sealed})

    async def get(self, channel_id: str) -> Channel | None:
        row = (await self._connection.execute(select(*_PUBLIC).where(channels.c.id == channel_id))).one_or_none()
        return None if row is None else _channel(row)

    async def live(self) -> list[Channel]:
        return [_channel(row) for row in await self._connection.execute(_LIVE)]

    async def credentials(self, channel_id: str) -> dict[str, str]:
        sealed = await self._connection.scalar(select(channels.c.sealed).where(channels.c.id == channel_id))
        if sealed is None:
            raise NotFound("there is no such channel")
        return json.loads(await self._open(sealed, context=_context(channel_id)))

    async def remove(self, channel_id: str, at: datetime) -> bool:
        live = update(channels).where(channels.c.id == channel_id, channels.c.removed_at.is_(None))
        nothing = await self._seal("{}", context=_context(channel_id))
        if not await self._changed(live.values(removed_at=at, sealed=nothing)):
            return False
        for table in (addresses, link_codes, channel_holds):
            await self._connection.execute(delete(table).where(table.c.channel_id == channel_id))
        return True

    async def hold(self, channel_id: str, holder: str, at: datetime, until: datetime) -> bool:
        holding = insert_for(channel_holds, is_postgres=self._is_postgres)
        is_free = or_(channel_holds.c.holder == holder, channel_holds.c.held_until <= at)
        changed = {name: holding.excluded[name] for name in ("holder", "held_until")}
        holding = holding.on_conflict_do_update(index_elements=["channel_id"], set_=changed, where=is_free)
        return await self._changed(holding, {"channel_id": channel_id, "holder": holder, "held_until": until})

    async def let_go(self, channel_id: str, holder: str) -> bool:
        own = and_(channel_holds.c.channel_id == channel_id, channel_holds.c.holder == holder)
        return await self._changed(delete(channel_holds).where(own))


class SqlAddresses(Repository):
    async def link(self, address: Address, *, beside: bool = False) -> bool:
        if not beside:
            own = (addresses.c.user_id == address.user_id, addresses.c.channel_id == address.channel_id)
            await self._connection.execute(delete(addresses).where(*own))
        adding = insert_for(addresses, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return await self._changed(adding, record_values(address, Address))

    async def get(self, address_id: str) -> Address | None:
        return await self._one(addresses.c.id == address_id)

    async def of_user(self, user_id: str) -> list[Address]:
        found = select(addresses).where(addresses.c.user_id == user_id)
        ordered = found.order_by(addresses.c.linked_at, addresses.c.id)
        return [_address(row) for row in await self._connection.execute(ordered)]

    async def by_external(self, channel_id: str, external_id: str) -> Address | None:
        return await self._one(and_(addresses.c.channel_id == channel_id, addresses.c.external_id == external_id))

    async def unlink(self, address_id: str) -> bool:
        return await self._changed(delete(addresses).where(addresses.c.id == address_id))

    async def forget_of(self, user_id: str) -> None:
        for table in (addresses, link_codes, preferences):
            await self._connection.execute(delete(table).where(table.c.user_id == user_id))

    async def switch_off(self, address_id: str, at: datetime) -> bool:
        working = update(addresses).where(addresses.c.id == address_id, addresses.c.off_at.is_(None))
        return await self._changed(working.values(off_at=at))

    async def put_code(self, code: LinkCode) -> None:
        putting = insert_for(link_codes, is_postgres=self._is_postgres)
        changed = {name: putting.excluded[name] for name in ("external_id", "hash", "made_at", "expires_at", "tries")}
        putting = putting.on_conflict_do_update(index_elements=["user_id", "channel_id"], set_=changed)
        await self._connection.execute(putting, record_values(code, LinkCode))

    async def code_of(self, user_id: str, channel_id: str) -> LinkCode | None:
        found = select(link_codes).where(_THIS_CODE).with_for_update()
        row = (await self._connection.execute(found, _code(user_id, channel_id))).one_or_none()
        return None if row is None else LinkCode(**record_values(row, LinkCode))

    async def code_by_hash(self, channel_id: str, code_hash: str) -> LinkCode | None:
        of_channel = and_(link_codes.c.channel_id == channel_id, link_codes.c.hash == code_hash)
        found = select(link_codes).where(of_channel, link_codes.c.external_id.is_(None)).with_for_update()
        row = (await self._connection.execute(found)).one_or_none()
        return None if row is None else LinkCode(**record_values(row, LinkCode))

    async def count_try(self, user_id: str, channel_id: str) -> None:
        counted = update(link_codes).where(_THIS_CODE).values(tries=link_codes.c.tries + 1)
        await self._connection.execute(counted, _code(user_id, channel_id))

    async def drop_code(self, user_id: str, channel_id: str) -> bool:
        return await self._changed(delete(link_codes).where(_THIS_CODE), _code(user_id, channel_id))

    async def purge_codes(self, before: datetime) -> None:
        await self._connection.execute(delete(link_codes).where(link_codes.c.expires_at < before))

    async def preferences(self, user_id: str) -> Preferences:
        wanted = select(preferences.c.wanted).where(preferences.c.user_id == user_id)
        return Preferences.from_json(await self._connection.scalar(wanted))

    async def set_preferences(self, user_id: str, preferences: Preferences) -> None:
        putting = insert_for(_preferences, is_postgres=self._is_postgres)
        putting = putting.on_conflict_do_update(index_elements=["user_id"], set_={"wanted": putting.excluded["wanted"]})
        await self._connection.execute(putting, {"user_id": user_id, "wanted": preferences.to_json()})

    async def recipients(
        self, people: Collection[str], groups: Collection[str], owner_id: str | None, at: datetime
    ) -> list[Recipient]:
        in_group = select(memberships.c.person_id).where(memberships.c.group_name.in_(groups))
        named = or_(users.c.id.in_(people), users.c.id.in_(in_group))
        wider = or_(users.c.id == owner_id, users.c.role.in_([Role.ADMIN, Role.REVIEWER]))
        away = exists().where(aways.c.person_id == users.c.id, aways.c.since <= at, aways.c.until > at)
        found = (
            select(
                addresses.c.id.label("address_id"),
                addresses.c.channel_id,
                users.c.id.label("user_id"),
                users.c.username,
                users.c.role,
                users.c.reviews,
                case((named, literal(1)), else_=literal(0)).label("is_named"),
                preferences.c.wanted,
            )
            .join(channels, and_(channels.c.id == addresses.c.channel_id, channels.c.removed_at.is_(None)))
            .join(users, users.c.id == addresses.c.user_id)
            .outerjoin(preferences, preferences.c.user_id == addresses.c.user_id)
            .where(addresses.c.off_at.is_(None), users.c.disabled_at.is_(None), users.c.deleted_at.is_(None), ~away)
            .where(named if owner_id is None else or_(named, wider))
            .order_by(addresses.c.id)
        )
        return [_recipient(row) for row in await self._connection.execute(found)]

    async def _one(self, condition: Any) -> Address | None:
        row = (await self._connection.execute(select(addresses).where(condition))).one_or_none()
        return None if row is None else _address(row)


_preferences = preferences


def _code(user_id: str, channel_id: str) -> dict[str, str]:
    return {"of_user": user_id, "of_channel": channel_id}


def _context(channel_id: str) -> str:
    return f"channel:{channel_id}"


def _channel(row: Row[Any]) -> Channel:
    shows: dict[str, Any] = {"shows": Shows(row.shows)}
    return Channel(**(record_values(row, Channel) | shows))


def _address(row: Row[Any]) -> Address:
    return Address(**record_values(row, Address))


def _recipient(row: Any) -> Recipient:
    person = Principal(row.user_id, row.username, Role(row.role), tuple(row.reviews))
    wanted = Preferences.from_json(row.wanted)
    return Recipient(row.address_id, row.channel_id, person, bool(row.is_named), wanted)
