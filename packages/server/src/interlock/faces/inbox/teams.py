"""What people do with a request beside answering it: claims, passing on, comments, taking a yes back."""

from fastapi import APIRouter, Request

from interlock.domain.team import Comment
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.faces.inbox import views
from interlock.services.teams import claims, comments
from interlock_client import teams as wire

router = APIRouter(prefix="/api/v1/inbox/requests/{request_id}", tags=["inbox"])


@router.post("/claim", responses=problems(401, 404, 409))
async def claim(request: Request, caller: Caller, request_id: str) -> wire.Claimed:
    """Say "I have it", for 15 minutes; again: as long from then on, for an hour in all. It keeps nobody from
    answering, and the next level from opening."""
    until = await claims.claim(state_of(request).core, caller, request_id)
    return wire.Claimed(request_id=request_id, until=until)


@router.post("/release", responses=problems(401, 404, 409))
async def release(request: Request, caller: Caller, request_id: str) -> wire.Released:
    """End one's claim."""
    await claims.release(state_of(request).core, caller, request_id)
    return wire.Released(request_id=request_id)


@router.post("/delegate", responses=problems(401, 404, 409))
async def delegate(request: Request, caller: Caller, request_id: str, body: wire.Delegate) -> wire.Routed:
    """Pass one's place on to somebody who may be asked for it anyway. Who passed it on says yes to it no more."""
    await claims.delegate(state_of(request).core, caller, request_id, body.to, body.note)
    return wire.Routed(request_id=request_id)


@router.post("/route", responses=problems(401, 404, 409))
async def route(request: Request, caller: Caller, request_id: str, body: wire.Route) -> wire.Routed:
    """Put it to more people; for admins, who do not become candidates by that."""
    await claims.route(state_of(request).core, caller, request_id, tuple(body.from_), body.note)
    return wire.Routed(request_id=request_id)


@router.delete("/vote", responses=problems(401, 404, 409))
async def withdraw(request: Request, caller: Caller, request_id: str) -> wire.VoteWithdrawn:
    """Take one's yes, or one's no among several, back, which is possible until the end."""
    left = await claims.withdraw_vote(state_of(request).core, caller, request_id)
    return wire.VoteWithdrawn(request_id=request_id, votes=wire.Votes.model_validate(views.votes_view(left)))


@router.get("/comments", responses=problems(401, 404))
async def list_comments(request: Request, caller: Caller, request_id: str) -> wire.Comments:
    """The oldest first. Who has a vote to give, and has not given it, reads their own only."""
    found = await comments.of_request(state_of(request).core, caller, request_id)
    return wire.Comments(comments=[_comment(one) for one in found])


@router.post("/comments", responses=problems(401, 404))
async def comment(request: Request, caller: Caller, request_id: str, body: wire.NewComment) -> wire.Comment:
    """Say something to the others; no agent is sent it."""
    return _comment(await comments.add(state_of(request).core, caller, request_id, body.text))


def _comment(one: Comment) -> wire.Comment:
    return wire.Comment(comment_id=one.id, by=one.by_name, text=one.text, at=one.at)
