"""Single sign-on: to the provider and back, and the identities that accounts are linked to."""

import logging

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import SignOnFailed
from interlock.domain.sign_on import Identity, SignOnClaims, local_path
from interlock.faces.http import attempts
from interlock.faces.http.credentials import Caller, Credential, authenticate
from interlock.faces.http.documented import problems
from interlock.faces.http.limits import address_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.signing_in import set_cookie, signed_in
from interlock.services.access import people, sign_ins, sign_on
from interlock_client import account as wire
from interlock_client.manage import Ended

router = APIRouter(prefix="/api/v1", tags=["single sign-on"])

FIRST_PAGE = "/inbox"
ACCOUNT_PAGE = "/settings/account"

logger = logging.getLogger(__name__)


@router.post("/session/sign-on", responses=problems())
async def begin(request: Request, response: Response, body: wire.BeginSignOn) -> wire.SignOnPlace:
    """Begin to sign in with the provider: the browser goes to `url`, and comes back to /login/return."""
    state = state_of(request)
    state.limits.attempt(address_of(request.scope))
    url, attempt = await sign_on.begin(state.core, local_path(body.next) or FIRST_PAGE)
    attempts.keep(request, response, attempt)
    return wire.SignOnPlace(url=url)


@router.post("/session/sign-on/finish", responses=problems(401, 404, 409))
async def finish(request: Request, response: Response, body: wire.FinishSignOn) -> wire.SignedOn:
    """Sign in, or link an identity, with what the provider sent back; only the browser that began it can."""
    core = state_of(request).core
    state_of(request).limits.attempt(address_of(request.scope))
    attempt = attempts.find(request, body.state)
    if attempt.user_id is not None:
        caller = await authenticate(request)
        if caller.id != attempt.user_id:
            raise SignOnFailed("somebody else is signed in by now; begin again", "expired")
        identity = await sign_on.link_own(core, caller, await _claims(request, attempt, body))
        attempts.forget(request, response)
        return wire.SignedOn(next=attempt.next, linked=True, groups_left_out=identity.groups_left_out)
    claims = await _claims(request, attempt, body)
    signed_on = await sign_on.sign_on(core, claims, address_of(request.scope))
    token = await signed_in(request, signed_on.user, None, signed_on.identity.id)
    set_cookie(request, response, token)
    attempts.forget(request, response)
    return wire.SignedOn(next=attempt.next, linked=False, groups_left_out=signed_on.identity.groups_left_out)


async def _claims(request: Request, attempt: sign_on.Attempt, body: wire.FinishSignOn) -> SignOnClaims:
    if body.code is None:
        # Anybody may have written it; that there is one is all that counts.
        logger.info("single sign-on: the provider signed nobody in")
        raise SignOnFailed("the provider signed nobody in", "denied")
    return await sign_on.claims(state_of(request).core, attempt, body.code, body.iss)


@router.get("/account/identities", responses=problems(401))
async def identities(request: Request, caller: Caller) -> wire.IdentityList:
    """The identities with which the caller signs in, and the other ways to."""
    core = state_of(request).core
    found = await sign_on.list_identities(core, caller)
    user = await sign_ins.person(core, caller)
    return wire.IdentityList(
        identities=[entry(one) for one in found], has_password=bool(user.password_hash) and core.settings.passwords
    )


@router.post("/account/identities", responses=problems(401))
async def begin_link(request: Request, response: Response, caller: Caller) -> wire.SignOnPlace:
    """Begin to link an identity to the caller's account: the browser goes to `url`, as for a sign-in."""
    state = state_of(request)
    state.limits.attempt(address_of(request.scope))
    url, attempt = await sign_on.begin(state.core, ACCOUNT_PAGE, caller)
    attempts.keep(request, response, attempt)
    return wire.SignOnPlace(url=url)


@router.delete("/account/identities/{identity_id}", responses=problems(401, 404, 409))
async def unlink_own(request: Request, caller: Caller, identity_id: str) -> Ended:
    """End a link, and the sessions that were opened through it, but this one. 409 for the only way to sign in."""
    core = state_of(request).core
    credential: Credential = request.state.credential
    present = await sign_ins.session_of_token(core, caller.id, credential.issued_at)
    await sign_on.unlink(core, caller, caller.id, identity_id, present and present.id)
    return Ended(id=identity_id)


@router.post("/people/{user_id}/identities", responses=problems(401, 404, 409))
async def link(request: Request, caller: Caller, user_id: str, body: wire.NewIdentity) -> wire.IdentityEntry:
    """Link somebody's account to a subject of the provider: who that is signs in as this person from then on."""
    core = state_of(request).core
    user = await people.person_of_id(core, caller, user_id)
    return entry(await sign_on.link(core, caller, user.id, body.subject))


@router.delete("/people/{user_id}/identities/{identity_id}", responses=problems(401, 404, 409))
async def unlink(request: Request, caller: Caller, user_id: str, identity_id: str) -> Ended:
    """End a link of somebody's, and the sessions that were opened through it."""
    core = state_of(request).core
    user = await people.person_of_id(core, caller, user_id)
    await sign_on.unlink(core, caller, user.id, identity_id)
    return Ended(id=identity_id)


def entry(identity: Identity) -> wire.IdentityEntry:
    return wire.IdentityEntry(
        id=identity.id,
        issuer=identity.issuer,
        subject=identity.subject,
        label=identity.label,
        groups=list(identity.groups),
        groups_left_out=identity.groups_left_out,
        linked_at=identity.linked_at,
        used_at=identity.used_at,
    )
