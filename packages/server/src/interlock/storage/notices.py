"""The outbox of what people are told on channels, and what comes back from there."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Row,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    update,
)

from interlock.domain.channel import (
    LARGEST_DIGEST,
    NOTICE,
    TO_GATHER,
    Notice,
    NoticeEnd,
    NoticeStatus,
    NoticeToken,
)
from interlock.domain.request import RequestStatus
from interlock.storage._columns import Moment
from interlock.storage._repository import Repository, insert_for, one_of, record_values
from interlock.storage.schema import channels, notice_tokens, notices, requests, taps

# Written out, not bound: only then can the partial indexes serve the queries.
_IS_DUE = notices.c.due_at.is_not(None)
_IS_OPEN = and_(notices.c.ending.is_(None), one_of(notices.c.status, (NoticeStatus.WAITING, NoticeStatus.SENT)))
# A server that knows of no digests may have told one by itself that waited to be gathered.
_IS_GATHERED = and_(
    notices.c.digest.is_not(None),
    or_(notices.c.digest != TO_GATHER, notices.c.status == literal_column(f"'{NoticeStatus.WAITING}'")),
)
_IS_SINGLE = or_(notices.c.digest.is_(None), ~_IS_GATHERED)
_IS_CLAIMED = and_(notices.c.id == bindparam("notice_id"), notices.c.due_at == bindparam("claimed_until"))
_END = (
    update(notices)
    .where(notices.c.request_id == bindparam("of_request"), _IS_OPEN)
    .values(
        ending=bindparam("new_ending", type_=notices.c.ending.type),
        # One that waits is dropped when it is due: who has claimed it goes by that moment.
        due_at=case(
            (notices.c.status == literal_column(f"'{NoticeStatus.SENT}'"), bindparam("at", type_=Moment)),
            else_=notices.c.due_at,
        ),
    )
)
_LEFT_BEHIND = (
    select(notices.c.request_id)
    .distinct()
    .where(
        _IS_OPEN,
        ~exists().where(
            requests.c.id == notices.c.request_id,
            requests.c.status == literal_column(f"'{RequestStatus.PENDING}'"),
        ),
    )
)
_DUE_CHANNELS = (
    select(notices.c.channel_id)
    .where(_IS_DUE, notices.c.due_at <= bindparam("now"))
    .group_by(notices.c.channel_id)
    .order_by(func.min(notices.c.due_at), notices.c.channel_id)
)


class SqlNotices(Repository):
    async def add(self, notices: Sequence[Notice]) -> None:
        if notices:
            adding = insert_for(_notices, is_postgres=self._is_postgres).on_conflict_do_nothing()
            await self._connection.execute(adding, [_values(notice) for notice in notices])

    async def get(self, notice_id: str) -> Notice | None:
        row = (await self._connection.execute(select(notices).where(notices.c.id == notice_id))).one_or_none()
        return None if row is None else _notice(row)

    async def of_request(self, request_id: str) -> list[Notice]:
        found = select(notices).where(notices.c.request_id == request_id).order_by(notices.c.created_at, notices.c.id)
        return [_notice(row) for row in await self._connection.execute(found)]

    async def page(self, channel_id: str, status: NoticeStatus | None, limit: int) -> list[Notice]:
        found = select(notices).where(notices.c.channel_id == channel_id)
        if status is not None:
            found = found.where(notices.c.status == status)
        newest_first = found.order_by(notices.c.created_at.desc(), notices.c.id.desc()).limit(limit)
        return [_notice(row) for row in await self._connection.execute(newest_first)]

    async def counts(self, status: NoticeStatus) -> dict[str, int]:
        counted = select(notices.c.channel_id, func.count().label("many")).where(notices.c.status == status)
        found = await self._connection.execute(counted.group_by(notices.c.channel_id))
        return {row.channel_id: row.many for row in found}

    async def end(self, request_id: str, end: NoticeEnd, at: datetime) -> bool:
        values = {"of_request": request_id, "new_ending": end.to_json(), "at": at}
        return (await self._connection.execute(_END, values)).rowcount > 0

    async def left_behind(self, limit: int) -> list[str]:
        return list(await self._connection.scalars(_LEFT_BEHIND.limit(limit)))

    async def due_channels(self, now: datetime) -> list[str]:
        return [row.channel_id for row in await self._connection.execute(_DUE_CHANNELS, {"now": now})]

    async def next_due(self, but: Collection[str]) -> datetime | None:
        earliest = select(func.min(notices.c.due_at)).where(_IS_DUE)
        if but:
            earliest = earliest.where(notices.c.channel_id.not_in(but))
        return await self._connection.scalar(earliest)

    async def claim(self, channel_id: str, now: datetime, until: datetime, limit: int) -> list[Notice]:
        due = (
            select(notices)
            .where(_IS_DUE, notices.c.due_at <= now, notices.c.channel_id == channel_id, _IS_SINGLE)
            .order_by(notices.c.due_at, notices.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        found = (await self._connection.execute(due)).all()
        if not found:
            return []
        return await self._take(found, until)

    async def claim_digests(self, channel_id: str, now: datetime, until: datetime, limit: int) -> list[list[Notice]]:
        is_due = and_(_IS_DUE, notices.c.due_at <= now, notices.c.channel_id == channel_id, _IS_GATHERED)
        places = select(notices.c.address_id).where(is_due).distinct().limit(limit)
        if not (address_ids := list(await self._connection.scalars(places))):
            return []
        # One at a time gathers for a channel: of two, each would tell of a part, or one would undo what the other drew.
        await self._connection.execute(select(channels.c.id).where(channels.c.id == channel_id).with_for_update())
        due = (
            select(notices)
            .where(is_due, notices.c.address_id.in_(address_ids))
            .order_by(notices.c.created_at, notices.c.id)
            .with_for_update(skip_locked=True)
        )
        together: dict[tuple[str, str], list[Row[Any]]] = {}
        for row in await self._connection.execute(due):
            together.setdefault((row.address_id, row.digest), []).append(row)
        digests = [await self._claim_digest(rows[:LARGEST_DIGEST], now, until) for rows in [*together.values()][:limit]]
        return [one for one in digests if one]

    async def _claim_digest(self, rows: Sequence[Row[Any]], now: datetime, until: datetime) -> list[Notice]:
        digest = rows[0].digest
        if digest == TO_GATHER:
            return await self._take(rows, until, rows[0].id if len(rows) > 1 else None)
        # While somebody tells what has changed in it, the next change waits for them.
        others = select(func.max(notices.c.due_at)).where(notices.c.digest == digest, notices.c.due_at > now)
        if (busy_until := await self._connection.scalar(others)) is not None:
            waiting = update(notices).where(notices.c.id.in_([row.id for row in rows]))
            await self._connection.execute(waiting.values(due_at=busy_until))
            return []
        return await self._take(rows, until, digest)

    async def _take(self, rows: Sequence[Row[Any]], until: datetime, digest: str | None = None) -> list[Notice]:
        taken = update(notices).where(notices.c.id.in_([row.id for row in rows]))
        # Of an attempt nothing is known until it is recorded.
        values = {"due_at": until, "attempts": notices.c.attempts + 1, "last_error": null(), "digest": digest}
        await self._connection.execute(taken.values(**values))
        return [_notice(row, due_at=until, attempts=row.attempts + 1, digest=digest) for row in rows]

    async def of_digest(self, digest: str) -> list[Notice]:
        found = select(notices).where(notices.c.digest == digest).order_by(notices.c.created_at, notices.c.id)
        return [_notice(row) for row in await self._connection.execute(found)]

    async def resume_digest(self, digest: str, at: datetime) -> None:
        waiting = update(notices).where(notices.c.digest == digest, _IS_DUE, notices.c.due_at > at)
        ended = waiting.where(notices.c.status == NoticeStatus.SENT, notices.c.ending.is_not(None))
        await self._connection.execute(ended.values(due_at=at))

    async def settle(
        self,
        claimed: Notice,
        status: NoticeStatus,
        at: datetime,
        *,
        due_at: datetime | None = None,
        ref: str | None = None,
        last_error: str | None = None,
    ) -> bool:
        settled = update(notices).where(_IS_CLAIMED, one_of(notices.c.status, NOTICE.sources(status)))
        values: dict[str, Any] = {"status": status, "due_at": due_at, "last_error": last_error}
        if status is NoticeStatus.SENT and claimed.status is not NoticeStatus.SENT:
            over = bindparam("at", type_=Moment)
            values |= {
                "digest_ref" if claimed.digest else "ref": ref,
                "attempts": 0,
                "sent_at": at,
                "due_at": case((notices.c.ending.is_not(None), over), else_=null()),
            }
            return await self._changed(settled.values(**values), {**_claim(claimed), "at": at})
        return await self._changed(settled.values(**values), _claim(claimed))

    async def release(self, claimed: Notice, due_at: datetime) -> bool:
        given_back = update(notices).where(_IS_CLAIMED)
        values = {"due_at": due_at, "attempts": notices.c.attempts - 1}
        return await self._changed(given_back.values(**values), _claim(claimed))

    async def drop(self, claimed: Notice) -> bool:
        return await self._changed(delete(notices).where(_IS_CLAIMED), _claim(claimed))

    async def end_channel(self, channel_id: str) -> None:
        own = notices.c.channel_id == channel_id
        await self._connection.execute(delete(notices).where(own, notices.c.status == NoticeStatus.WAITING))
        sent = update(notices).where(own, notices.c.status == NoticeStatus.SENT)
        await self._connection.execute(sent.values(status=NoticeStatus.GONE, due_at=None))

    async def purge(self, before: datetime) -> None:
        over = or_(
            notices.c.status.not_in([NoticeStatus.WAITING, NoticeStatus.SENT]),
            and_(notices.c.ending.is_not(None), notices.c.due_at.is_(None)),
        )
        await self._connection.execute(delete(notices).where(notices.c.created_at < before, over))
        await self._connection.execute(delete(notice_tokens).where(notice_tokens.c.ends_at < before))
        await self._connection.execute(delete(taps).where(taps.c.at < before))

    async def add_tokens(self, tokens: Sequence[NoticeToken]) -> None:
        if tokens:
            rows = [record_values(token, NoticeToken) for token in tokens]
            adding = insert_for(notice_tokens, is_postgres=self._is_postgres).on_conflict_do_nothing()
            await self._connection.execute(adding, rows)

    async def token(self, token_hash: str) -> NoticeToken | None:
        found = select(notice_tokens).where(notice_tokens.c.hash == token_hash)
        row = (await self._connection.execute(found)).one_or_none()
        return None if row is None else NoticeToken(**record_values(row, NoticeToken))

    async def take_tap(self, channel_id: str, event_id: str, at: datetime) -> bool:
        taking = insert_for(taps, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return await self._changed(taking, {"channel_id": channel_id, "event_id": event_id, "at": at})

    async def has_tap(self, channel_id: str, event_id: str) -> bool:
        same = exists().where(taps.c.channel_id == channel_id, taps.c.event_id == event_id)
        return bool(await self._connection.scalar(select(same)))


_notices = notices


def _claim(claimed: Notice) -> dict[str, Any]:
    return {"notice_id": claimed.id, "claimed_until": claimed.due_at}


def _values(notice: Notice) -> dict[str, Any]:
    values = record_values(notice, Notice)
    del values["end"]
    return values | {"ending": notice.end.to_json() if notice.end else None}


def _notice(row: Row[Any], **changes: Any) -> Notice:
    own: dict[str, Any] = {
        "status": NoticeStatus(row.status),
        "end": NoticeEnd.from_json(row.ending) if row.ending else None,
    }
    return Notice(**(record_values(row, Notice) | own | changes))
