"""API keys, and tickets for streams of browsers."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.api_key import ApiKey, KeyRole
from interlock.faces.http.credentials import Caller, Credential
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.access import keys
from interlock_client import manage as wire

router = APIRouter(prefix="/api/v1", tags=["keys"])


@router.post("/keys", responses=problems(401))
async def create(request: Request, caller: Caller, body: wire.NewKey) -> wire.KeyMade:
    """Make a key of the caller's own. A key of an agent may ask and read what it asked, and never answers."""
    key, text = await keys.create_key(
        state_of(request).core, caller, body.name, KeyRole(body.role), agent=body.agent, expires_at=body.expires_at
    )
    return wire.KeyMade(
        id=key.id, key=text, name=key.name, role=key.role.value, agent=key.agent, expires_at=key.expires_at
    )


@router.get("/keys", responses=problems(401))
async def list_all(
    request: Request, caller: Caller, all: Annotated[bool, Query(description="Everybody's, for an admin.")] = False
) -> wire.KeyList:
    """The caller's keys, the newest first; never the keys themselves."""
    found = await keys.list_keys(state_of(request).core, caller, everybody=all)
    return wire.KeyList(keys=[_entry(key) for key in found])


@router.delete("/keys/{key_id}", responses=problems(401, 404))
async def revoke(request: Request, caller: Caller, key_id: str) -> wire.Ended:
    """Revoke a key; streams that it opened end within seconds."""
    key = await keys.revoke_key(state_of(request).core, caller, key_id)
    return wire.Ended(id=key.id)


@router.post("/tickets", responses=problems(401))
async def ticket(request: Request, caller: Caller) -> wire.TicketMade:
    """A ticket for one `EventSource` or `WebSocket`, as `?ticket=`: it holds once, for 30 seconds."""
    credential: Credential = request.state.credential
    text, new_ticket = await keys.issue_ticket(
        state_of(request).core, caller, credential.issued_at, credential.token_key
    )
    return wire.TicketMade(ticket=text, expires_at=new_ticket.expires_at)


def _entry(key: ApiKey) -> wire.KeyEntry:
    return wire.KeyEntry(
        id=key.id,
        name=key.name,
        role=key.role.value,
        agent=key.agent,
        owner_id=key.owner_id,
        created_at=key.created_at,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        revoked_at=key.revoked_at,
    )
