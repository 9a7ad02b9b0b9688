"""Grants and saved values: what later asks are answered with, listed and taken back."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.saved_secret import SavedSecret
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.requests import grants
from interlock.services.requests.grants import ListedGrant
from interlock_client import manage as wire

router = APIRouter(prefix="/api/v1", tags=["grants"])

All = Annotated[bool, Query(description="Everybody's, for an admin.")]


@router.get("/grants", responses=problems(401))
async def list_grants(request: Request, caller: Caller, all: All = False) -> wire.GrantList:
    """What is remembered for the caller's conversations, and what they gave for others', the newest first."""
    found = await grants.list_grants(state_of(request).core, caller, everybody=all)
    return wire.GrantList(grants=[_grant(grant) for grant in found])


@router.delete("/grants/{grant_id}", responses=problems(401, 404))
async def revoke(request: Request, caller: Caller, grant_id: str) -> wire.Ended:
    """Take a grant back, at once: whatever is asked from then on is put to a person."""
    grant = await grants.revoke_grant(state_of(request).core, caller, grant_id)
    return wire.Ended(id=grant.id)


@router.get("/secrets", responses=problems(401))
async def list_secrets(request: Request, caller: Caller, all: All = False) -> wire.SavedList:
    """The values saved for the caller's agents: their names, never the values."""
    found = await grants.list_saved_values(state_of(request).core, caller, everybody=all)
    return wire.SavedList(secrets=[_to_entry(one) for one in found])


@router.delete("/secrets/{secret_id}", responses=problems(401, 404))
async def delete(request: Request, caller: Caller, secret_id: str) -> wire.Ended:
    """Delete a saved value: the next ask for its name is put to a person."""
    saved = await grants.delete_saved_value(state_of(request).core, caller, secret_id)
    return wire.Ended(id=saved.id)


def _grant(listed: ListedGrant) -> wire.GrantEntry:
    grant = listed.grant
    return wire.GrantEntry.model_validate(
        {
            "id": grant.id,
            "agent": grant.agent,
            "allow": grant.allow,
            "scope": grant.scope.value,
            "duration": grant.duration.value,
            "tool": grant.tool,
            "conversation_id": grant.thread_id,
            "owner_id": grant.owner_id,
            "owner": listed.owner,
            "ceiling": grant.ceiling if grant.allow else None,
            "granted_by": grant.by_name,
            "request_id": grant.request_id,
            "created_at": grant.created_at,
            "uses": grant.uses,
            "last_used_at": grant.last_used_at,
        }
    )


def _to_entry(saved: SavedSecret) -> wire.SavedEntry:
    return wire.SavedEntry(
        id=saved.id,
        agent=saved.agent,
        name=saved.name,
        sensitive=saved.sensitive,
        owner_id=saved.owner_id,
        asker_id=saved.asker_id,
        saved_by=saved.by_name,
        request_id=saved.request_id,
        created_at=saved.created_at,
        updated_at=saved.updated_at,
    )
