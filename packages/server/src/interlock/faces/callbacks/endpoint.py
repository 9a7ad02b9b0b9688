"""The callbacks face: what vendors of channels send to this server, signed by them. No cookie and no token counts."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from starlette.background import BackgroundTask

from interlock.faces.http.documented import Responses, problems
from interlock.faces.http.limits import address_of
from interlock.faces.http.server_state import state_of
from interlock.services.channels.callbacks import take_callback

router = APIRouter(prefix="/channels", tags=["channels"])

ChannelId = Annotated[str, Path(max_length=64)]
_REPLY: Responses = {200: {"content": {"application/json": {"schema": {}}, "text/plain": {"schema": {}}}}}


@router.post("/{channel_id}/callback", response_class=Response, responses=_REPLY | problems(401))
async def callback(request: Request, channel_id: ChannelId) -> Response:
    """For the vendor of a channel: taps and messages of people, signed as the vendor does."""
    state = state_of(request)
    state.limits.callback(address_of(request.scope))
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() != "cookie"}
    reply = await take_callback(state.core, channel_id, headers, await request.body())
    afterwards = BackgroundTask(_finish, reply.afterwards) if reply.afterwards else None
    return Response(reply.body, media_type=reply.content_type, background=afterwards)


async def _finish(afterwards: Callable[[], Awaitable[None]]) -> None:
    """A task of its own kind: of a function that only gives something to wait for, Starlette would not wait for it."""
    await afterwards()
