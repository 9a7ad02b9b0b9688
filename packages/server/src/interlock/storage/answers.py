"""Answers: one for a request at most, kept as it was given."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, bindparam, insert, select

from interlock.domain.kinds import RequestKind, value_from_json
from interlock.domain.request import Answer, AnswerOrigin
from interlock.storage._repository import Repository, batched
from interlock.storage.schema import answers, requests

_ADD = insert(answers)
_ANSWERS = select(answers, requests.c.kind).join(requests, requests.c.id == answers.c.request_id)
_OF_REQUEST = _ANSWERS.where(answers.c.request_id == bindparam("request_id"))


class SqlAnswers(Repository):
    async def add(self, answer: Answer) -> None:
        await self._connection.execute(
            _ADD,
            {
                "request_id": answer.request_id,
                "value": answer.value.to_json(),
                "by_id": answer.by_id,
                "by_name": answer.by_name,
                "source": answer.source,
                "origin": answer.origin,
                "metadata": answer.metadata,
                "at": answer.at,
            },
        )

    async def of_requests(self, request_ids: Collection[str]) -> dict[str, Answer]:
        if len(request_ids) == 1:
            found = await self._connection.execute(_OF_REQUEST, {"request_id": next(iter(request_ids))})
            return {row.request_id: _answer(row) for row in found}
        given: dict[str, Answer] = {}
        for some in batched(request_ids):
            found = await self._connection.execute(_ANSWERS.where(answers.c.request_id.in_(some)))
            given |= {row.request_id: _answer(row) for row in found}
        return given


def _answer(row: Row[Any]) -> Answer:
    return Answer(
        request_id=row.request_id,
        value=value_from_json(RequestKind(row.kind), row.value),
        by_id=row.by_id,
        by_name=row.by_name,
        source=row.source,
        origin=AnswerOrigin(row.origin),
        at=row.at,
        metadata=row.metadata,
    )
