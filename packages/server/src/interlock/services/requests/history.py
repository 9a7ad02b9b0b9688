"""What was decided: every settled request, with its answer."""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.errors import Forbidden
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Answer, Request, RequestStatus
from interlock.ports.filters import SettledFilter
from interlock.services.core import Core

_DECISIONS = {"approved": "accept", "edited": "edit", "refused": "reject", "replied": "response"}
MOST_LOOKED_AT = 2_000
"""An outcome is found by looking into answers; further than this a page does not look."""

SMALLEST_PAGE = 200

Position = tuple[datetime, str]
Row = tuple[Request, Answer | None]


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """Which decisions are wanted; None: any."""

    who: str | None = None
    face: str | None = None
    tool: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def list_decisions(
    core: Core, principal: Principal, query: DecisionQuery, before: Position | None, limit: int
) -> tuple[list[Row], Position | None]:
    """The newest first, and where the next page begins, None on the last one."""
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at what people decided")
    found: list[Row] = []
    looked_at, size = 0, max(limit, SMALLEST_PAGE)
    async with core.store.snapshot() as tx:
        while looked_at < MOST_LOOKED_AT:
            page = await tx.requests.page_settled(_filter(principal, query, before), size)
            looked_at += len(page)
            for row in page:
                before = _position(row[0])
                if _has_outcome(row, query.outcome):
                    found.append((row[0], row[1] and row[1].readable()))
                if len(found) == limit:
                    return found, before
            if len(page) < size:
                return found, None
            # Others may want something meanwhile.
            await asyncio.sleep(0)
    return found, before


def _filter(principal: Principal, query: DecisionQuery, before: Position | None) -> SettledFilter:
    is_admin = principal.role is Role.ADMIN
    return SettledFilter(
        owner_id=None if is_admin else principal.id,
        reviews=principal.reviews if principal.role is Role.REVIEWER else (),
        who=query.who,
        source=query.face,
        tool=query.tool,
        statuses=_statuses(query.outcome),
        since=query.since,
        until=query.until,
        before=before,
    )


def _statuses(outcome: str | None) -> tuple[RequestStatus, ...] | None:
    if outcome is None:
        return None
    if outcome in (RequestStatus.CANCELLED, RequestStatus.EXPIRED):
        return (RequestStatus(outcome),)
    return (RequestStatus.ANSWERED,)


def _has_outcome(row: Row, outcome: str | None) -> bool:
    request, answer = row
    if outcome is None or request.status is not RequestStatus.ANSWERED or answer is None:
        return True
    if not isinstance(answer.value, ApprovalAnswer):
        return outcome == "answered"
    return answer.value.decision == _DECISIONS.get(outcome)


def _position(request: Request) -> Position:
    assert request.settled_at is not None
    return request.settled_at, request.id
