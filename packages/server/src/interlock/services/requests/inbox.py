"""The inbox: what waits for a person, one request in full, and answers that are bound to what was shown."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from interlock import failpoints
from interlock.domain import showing
from interlock.domain.errors import FieldError, Forbidden, InvalidAnswer, NotFound, NotShown
from interlock.domain.event import AssistantMessage, EventType, Looking
from interlock.domain.grant import GrantScope
from interlock.domain.json_value import JsonValue
from interlock.domain.kinds import ApprovalBody
from interlock.domain.preview import FILE_SHOWN, FilePreview, redact_preview
from interlock.domain.principal import Principal
from interlock.domain.redaction import Redaction
from interlock.domain.request import Request, RequestStatus
from interlock.domain.risk import NEEDS_CODE
from interlock.domain.showing import ViewType
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit
from interlock.services.requests import pending
from interlock.services.requests.answering import Reply, Sender, SettleResult, settle_one
from interlock.services.requests.idempotency import IdempotentCall, reply_once
from interlock.services.requests.pending import RequestQuery, RequestView, view_request
from interlock.services.runs.results import Result, result_of
from interlock.services.teams.eligibility import access_to
from interlock.services.teams.people import PassedOn, RequestPeople, last_passed_on, people_of


class FileChanged(NotShown):
    code = "file_changed"


LOOKS_FOR = timedelta(seconds=20)
"""How long somebody counts as a viewer after their page said so."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A request as it stands in the list."""

    request: Request
    thread: Thread
    owner: str
    in_pause: int
    """How many requests its pause has."""
    looking: Sequence[str] = ()
    change: tuple[int, int] | None = None
    """How many lines its call would add to a file and take from it, where that is known."""
    people: RequestPeople | None = None
    """Where it stands with its people, for the reader; None where it has no terms."""
    is_candidate_only: bool = False
    """Whether the reader sees the request, and not the conversation."""


@dataclass(frozen=True, slots=True)
class PageView:
    """What its sender had before their eyes."""

    digest: str
    code: str | None = None
    file_sha256: str | None = None
    over_claim: bool = False
    """Whether its sender knows that somebody else has it."""


@dataclass(frozen=True, slots=True)
class FullView:
    entry: Entry
    view: RequestView
    siblings: Sequence[str]
    schema: Mapping[str, JsonValue] | None
    file: FilePreview | None
    result: Result | None
    agent_text: str | None
    """What the agent said when it made the call, beside the call itself."""
    is_tools_own: bool
    """Whether the description of the call is the tool's own, and not the agent's."""
    passed_on: PassedOn | None = None
    """Who put it to others last."""


MOST_FILES = 50
"""So many files are looked at for one page of the list."""


async def list_inbox(
    core: Core, principal: Principal, query: RequestQuery, after: tuple[datetime, str] | None, limit: int
) -> tuple[list[Entry], int]:
    found, total = await pending.list_pending(core, principal, query, after, limit)
    async with core.store.snapshot() as tx:
        entries = await _entries(core, tx, principal, found)
    return await _with_changes(core, entries), total


async def entries_of(core: Core, principal: Principal, request_ids: Sequence[str]) -> list[Entry]:
    """Those of the requests that are pending and that the principal may see."""
    async with core.store.snapshot() as tx:
        found = [request for one in request_ids if (request := await tx.requests.get(one)) is not None]
        waiting = [request for request in found if request.status is RequestStatus.PENDING]
        entries = await _entries(core, tx, principal, waiting)
    return await _with_changes(core, [entry for entry in entries if _is_seen(principal, entry)])


async def is_candidate(core: Core, principal: Principal, request_id: str) -> bool:
    """Whether it is put to them, of whom it is known that they do not see its conversation."""
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        thread = await tx.threads.get(request.thread_id) if request is not None else None
        return request is not None and thread is not None and (await access_to(tx, principal, thread, request)).may_see


def _is_seen(principal: Principal, entry: Entry) -> bool:
    return principal.may_see(entry.thread) or (entry.people is not None and entry.people.access.may_see)


async def _with_changes(core: Core, entries: Sequence[Entry]) -> list[Entry]:
    """Once nothing is locked: files are read in threads."""
    changing = [one.request for one in entries if showing.view_type(one.request) is ViewType.FILE][:MOST_FILES]
    files = await asyncio.gather(*(core.agents.file_preview(request) for request in changing))
    changes = {request.id: showing.changed_lines(file) for request, file in zip(changing, files, strict=True)}
    return [replace(entry, change=changes.get(entry.request.id)) for entry in entries]


async def _entries(core: Core, tx: Transaction, principal: Principal, requests: Sequence[Request]) -> list[Entry]:
    threads = await tx.threads.of_ids({request.thread_id for request in requests})
    owners = await tx.users.names_of({request.owner_id for request in requests})
    siblings = Counter(one.pause_id for one in await tx.requests.of_pauses({one.pause_id for one in requests}))
    now = core.clock.now()
    looking = core.viewers.at({request.id for request in requests}, now)
    people = {
        one.id: await people_of(tx, principal, threads[one.thread_id], one, now, break_glass=core.settings.break_glass)
        for one in requests
        if one.routing is not None and one.thread_id in threads
    }
    return [
        Entry(
            request,
            threads[request.thread_id],
            owners.get(request.owner_id, ""),
            siblings[request.pause_id],
            looking.get(request.id, ()),
            people=people.get(request.id),
            is_candidate_only=request.id in people and not principal.may_see(threads[request.thread_id]),
        )
        for request in requests
        if request.thread_id in threads
    ]


async def view(core: Core, principal: Principal, request_id: str) -> FullView:
    """One request with everything that its page shows; `NotFound` and `Forbidden` as for any look at it."""
    seen = await pending.view_request(core, principal, request_id)
    async with core.store.snapshot() as tx:
        entries = await _entries(core, tx, principal, [seen.request])
        siblings = await tx.requests.of_pauses([seen.request.pause_id])
        if not entries:
            raise NotFound("there is no such request", request_id=request_id)
        result = await result_of(tx, entries[0].thread, seen.request, seen.answer)
        passed_on = await last_passed_on(tx, entries[0].thread, seen.request)
        secrets = await tx.secrets.of_thread(seen.request.thread_id)
        agent_text = None if entries[0].is_candidate_only else await _agent_text(tx, seen.request)
    schema = core.agents.schema(seen.request)
    file = await core.agents.file_preview(seen.request)
    if file is not None:
        file = redact_preview(file, Redaction(value for _, value in secrets.values()))
    is_open = seen.request.status is RequestStatus.PENDING
    # What is settled may have changed the file.
    entry = replace(entries[0], change=showing.changed_lines(file) if is_open else None)
    is_tools_own = not entry.thread.is_outside and _is_tools_own(core, seen.request)
    return FullView(
        entry, seen, [one.id for one in siblings], schema, file, result, agent_text, is_tools_own, passed_on
    )


async def _agent_text(tx: Transaction, request: Request) -> str | None:
    """From the log, in which no value stands that was given in confidence."""
    pause = await tx.pauses.get(request.pause_id)
    if pause is None or pause.opened_seq is None or request.message_id is None:
        return None
    event = await tx.events.last(request.thread_id, EventType.ASSISTANT_MESSAGE, pause.opened_seq)
    message = event.data if event else None
    if not isinstance(message, AssistantMessage) or message.message_id != request.message_id:
        return None
    return message.text.strip() or None


def _is_tools_own(core: Core, request: Request) -> bool:
    if not isinstance(request.body, ApprovalBody):
        return False
    known = (one.description for one in core.agents.tools_of(request.agent) if one.name == request.tool)
    return bool(request.body.description) and request.body.description in known


async def answer_from_page(
    core: Core,
    sender: Sender,
    reply: Reply,
    page: PageView,
    once: IdempotentCall,
    rendered: Callable[[SettleResult], bytes],
    *,
    first: Callable[[Unit], Awaitable[None]] | None = None,
) -> bytes:
    """Answer what was shown, and nothing else: `NotShown` when it is not what the digest was made of. `first` is done
    before, in the same transaction; what it raises ends it."""

    # Before anything is locked: a file is read in a thread, of which there may be none free.
    await _check_file(core, sender.principal, reply, page)

    async def act(work: Unit) -> SettleResult:
        if first is not None:
            await first(work)
        request = await work.tx.requests.get(reply.request_id)
        if request is not None and request.status is RequestStatus.PENDING:
            check_page_view(request, reply, page)
        over_claim = page.over_claim or reply.override is not None
        return await settle_one(work, sender, replace(reply, code=page.code, over_claim=over_claim))

    given = await reply_once(core, sender.principal, once, act, rendered)
    failpoints.hit("answer.committed")
    return given


def check_page_view(request: Request, reply: Reply, page: PageView) -> None:
    if page.digest != showing.shown_digest(request):
        raise NotShown("this is not what was shown; look at the request again")
    if reply.remember is not None and reply.remember.scope is not GrantScope.THIS_ACTION and request.risk in NEEDS_CODE:
        message = "of a risky call nothing but the very same one is remembered"
        raise InvalidAnswer(message, [FieldError("remember.scope", "too_wide", message)])
    if showing.needs_code(request, reply.value, reply.remember) and page.code != showing.code_of(request):
        message = "type the four digits shown after the last line of what will run"
        raise InvalidAnswer(message, [FieldError("code", "wrong", message)])


async def _check_file(core: Core, principal: Principal, reply: Reply, page: PageView) -> None:
    if page.file_sha256 is None:
        return
    view = await pending.view_request(core, principal, reply.request_id)
    if view.request.status is not RequestStatus.PENDING:
        return
    file = await core.agents.file_preview(view.request)
    if file is None or file.sha256 != page.file_sha256:
        raise FileChanged("the file has changed since it was shown; look at the new difference")


def with_page_view(sender: Sender, page: PageView, dwell_ms: int | None) -> Sender:
    """The sender, with what the audit trail keeps of how they came to their answer."""
    seen = {"digest_shown": page.digest, **({} if dwell_ms is None else {"dwell_ms": dwell_ms})}
    seen |= {FILE_SHOWN: page.file_sha256} if page.file_sha256 else {}
    return replace(sender, metadata={**sender.metadata, **seen})


async def announce_viewer(core: Core, principal: Principal, request_id: str) -> None:
    """They have it on their screen; said again every few seconds for as long as that is so."""
    if principal.is_agent:
        raise Forbidden("an agent's key asks, and looks at nothing")
    view = await view_request(core, principal, request_id)
    looking = Looking(view.request.thread_id, request_id, principal.name, core.clock.now() + LOOKS_FOR)
    core.viewers.add(looking)
    core.bus.notify([looking])
