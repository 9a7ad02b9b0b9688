"""The audit trail, for whoever may see the threads it is about."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from interlock.domain.audit import AuditEntry, AuditPosition
from interlock.domain.errors import InvalidInput
from interlock.domain.moment import to_iso
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.server_state import state_of
from interlock.services.audit import trail as auditing
from interlock_client import audit as wire

_LARGEST = 2**63 - 1

router = APIRouter(prefix="/api/v1/audit", tags=["audit"])


@router.get("", response_model=wire.AuditPage, responses=problems(401))
async def list_all(
    request: Request,
    caller: Caller,
    conversation_id: Annotated[str | None, Query(max_length=500)] = None,
    action: Annotated[str | None, Query(max_length=100)] = None,
    cursor: Annotated[str | None, Query(max_length=4_000)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> LenientJSONResponse:
    """The newest entries first; `next_cursor` leads to the next page. Admins see every chain, others their threads'."""
    page = await auditing.list_audit(
        state_of(request).core,
        caller,
        conversation_id=conversation_id,
        action=action,
        before=None if cursor is None else _read_cursor(cursor),
        limit=limit,
    )
    body = wire.AuditPage(
        entries=[_entry(entry) for entry in page.entries],
        next_cursor=None if page.next_before is None else _cursor(page.next_before),
    )
    # What people and agents wrote may hold halves of characters.
    return LenientJSONResponse(body.model_dump() | {"entries": [_to_json(entry) for entry in body.entries]})


def _to_json(entry: wire.AuditEntry) -> dict[str, Any]:
    return {**entry.model_dump(), "at": to_iso(entry.at)}


def _entry(entry: AuditEntry) -> wire.AuditEntry:
    return wire.AuditEntry(
        conversation_id=entry.chain,
        number=entry.number,
        at=entry.at,
        actor=entry.actor_name,
        action=entry.action,
        data=entry.data,
        hash=entry.hash,
    )


def _cursor(position: AuditPosition) -> str:
    spelling = json.dumps([to_iso(position.at), position.number, position.chain])
    return urlsafe_b64encode(spelling.encode()).decode()


def _read_cursor(text: str) -> AuditPosition:
    try:
        at, number, chain = json.loads(urlsafe_b64decode(text.encode()))
        if type(number) is not int or abs(number) > _LARGEST:
            raise ValueError("not a number of an entry")
        return AuditPosition(datetime.fromisoformat(at).astimezone(UTC), str(chain), number)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise InvalidInput("the cursor is none that a page before gave") from error
