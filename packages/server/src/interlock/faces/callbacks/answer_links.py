"""Pages to which mails lead, and which take an answer without a sign-in. No cookie and no credential counts: what the
link holds does. Nothing can be asked for by a GET."""

from fastapi import APIRouter, Request

from interlock.domain.channel import Message
from interlock.domain.tap import TapResult
from interlock.faces.http.documented import problems
from interlock.faces.http.limits import address_of
from interlock.faces.http.server_state import state_of
from interlock.services.channels import links
from interlock_client import channels as wire

router = APIRouter(prefix="/api/v1/answer-link", tags=["channels"])


@router.post("", responses=problems(429))
async def open_link(request: Request, body: wire.OpenLink) -> wire.AnswerPage:
    """What a link in a mail leads to. It changes nothing, however often."""
    state = state_of(request)
    state.limits.callback(address_of(request.scope))
    return _page(await links.open_link(state.core, body.link))


@router.post("/tap", responses=problems(429))
async def tap(request: Request, body: wire.TapOnPage) -> wire.AnswerPage:
    """Press a button of it, as the person whom the mail was sent to."""
    state = state_of(request)
    state.limits.callback(address_of(request.scope))
    return _page(await links.tap_on_page(state.core, body.link, body.button))


def _page(result: TapResult) -> wire.AnswerPage:
    message = result.message and _message(result.message)
    return wire.AnswerPage.model_validate({"outcome": result.outcome.value, "text": result.text, "message": message})


def _message(message: Message) -> wire.PageMessage:
    return wire.PageMessage(
        title=message.title,
        rows=[wire.PageRow(label=one.label, value=one.value) for one in message.rows],
        text=message.text,
        notes=list(message.notes),
        buttons=[
            wire.PageButton(label=one.label, token=one.token, is_yes=one.is_yes, is_no=one.is_no)
            for one in message.buttons
        ],
        request_id=message.about,
    )
