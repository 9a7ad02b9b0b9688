"""The inbox: what waits for a person, one request in full, and answers that are bound to what was shown."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from interlock import failpoints
from interlock.domain import showing
from interlock.domain.errors import FieldError, InvalidAnswer, NotFound, NotShown
from interlock.domain.grant import GrantScope
from interlock.domain.principal import Principal
from interlock.domain.request import Request, RequestStatus
from interlock.domain.risk import NEEDS_CODE
from interlock.domain.showing import FileBehind
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services import pending
from interlock.services.answering import Reply, Sender, Settled, settle_one
from interlock.services.core import Core, Unit
from interlock.services.once import Once, replied_once
from interlock.services.pending import RequestView, Wanted
from interlock.services.results import Result, result_of


class FileChanged(NotShown):
    code = "file_changed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A request as it stands in the list."""

    request: Request
    thread: Thread
    owner: str
    in_pause: int
    """How many requests its pause has."""
    looking: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What its sender had before their eyes."""

    digest: str
    code: str | None = None
    file_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FullView:
    entry: Entry
    view: RequestView
    siblings: Sequence[str]
    schema: Mapping[str, object] | None
    file: FileBehind | None
    result: Result | None


async def list_inbox(
    core: Core, principal: Principal, wanted: Wanted, after: tuple[datetime, str] | None, limit: int
) -> tuple[list[Entry], int]:
    found, total = await pending.list_pending(core, principal, wanted, after, limit)
    async with core.store.snapshot() as tx:
        return await _entries(core, tx, found), total


async def entries_of(core: Core, principal: Principal, request_ids: Sequence[str]) -> list[Entry]:
    """Those of the requests that are pending and that the principal may see."""
    async with core.store.snapshot() as tx:
        found = [request for one in request_ids if (request := await tx.requests.get(one)) is not None]
        waiting = [request for request in found if request.status is RequestStatus.PENDING]
        entries = await _entries(core, tx, waiting)
    return [entry for entry in entries if principal.may_see(entry.thread)]


async def _entries(core: Core, tx: Transaction, requests: Sequence[Request]) -> list[Entry]:
    threads = await tx.threads.of_ids({request.thread_id for request in requests})
    owners = await tx.users.names_of({request.owner_id for request in requests})
    siblings = Counter(one.pause_id for one in await tx.requests.of_pauses({one.pause_id for one in requests}))
    looking = core.lookers.at({request.id for request in requests}, core.clock.now())
    return [
        Entry(
            request,
            threads[request.thread_id],
            owners.get(request.owner_id, ""),
            siblings[request.pause_id],
            looking.get(request.id, ()),
        )
        for request in requests
        if request.thread_id in threads
    ]


async def view(core: Core, principal: Principal, request_id: str) -> FullView:
    """One request with everything that its page shows; `NotFound` and `Forbidden` as for any look at it."""
    seen = await pending.view_request(core, principal, request_id)
    async with core.store.snapshot() as tx:
        entries = await _entries(core, tx, [seen.request])
        siblings = await tx.requests.of_pauses([seen.request.pause_id])
        if not entries:
            raise NotFound("there is no such request", request_id=request_id)
        result = await result_of(tx, entries[0].thread, seen.request, seen.answer)
    schema = core.agents.schema(seen.request)
    file = await core.agents.file_behind(seen.request)
    return FullView(entries[0], seen, [one.id for one in siblings], schema, file, result)


async def answer_shown(
    core: Core, sender: Sender, reply: Reply, shown: Shown, once: Once, rendered: Callable[[Settled], bytes]
) -> bytes:
    """Answer what was shown, and nothing else: `NotShown` when it is not what the digest was made of."""

    # Before anything is locked: a file is read in a thread, of which there may be none free.
    await _check_file(core, sender.principal, reply, shown)

    async def act(work: Unit) -> Settled:
        request = await work.tx.requests.get(reply.request_id)
        if request is not None and request.status is RequestStatus.PENDING:
            _check_shown(request, reply, shown)
        return await settle_one(work, sender, reply)

    given = await replied_once(core, sender.principal, once, act, rendered)
    failpoints.hit("answer.committed")
    return given


def _check_shown(request: Request, reply: Reply, shown: Shown) -> None:
    if shown.digest != showing.shown_digest(request):
        raise NotShown("this is not what was shown; look at the request again")
    if reply.remember is not None and reply.remember.scope is not GrantScope.THIS_ACTION and request.risk in NEEDS_CODE:
        message = "of a risky call nothing but the very same one is remembered"
        raise InvalidAnswer(message, [FieldError("remember.scope", "too_wide", message)])
    if showing.needs_code(request, reply.value, reply.remember) and shown.code != showing.code_of(request):
        message = "type the four digits that stand behind the last line of what will run"
        raise InvalidAnswer(message, [FieldError("code", "wrong", message)])


async def _check_file(core: Core, principal: Principal, reply: Reply, shown: Shown) -> None:
    if shown.file_sha256 is None:
        return
    view = await pending.view_request(core, principal, reply.request_id)
    if view.request.status is not RequestStatus.PENDING:
        return
    file = await core.agents.file_behind(view.request)
    if file is None or file.sha256 != shown.file_sha256:
        raise FileChanged("the file has changed since it was shown; look at the new difference")


def with_shown(sender: Sender, shown: Shown, dwell_ms: int | None) -> Sender:
    """The sender, with what the audit trail keeps of how they came to their answer."""
    told = {"digest_shown": shown.digest, **({} if dwell_ms is None else {"dwell_ms": dwell_ms})}
    return replace(sender, metadata={**sender.metadata, **told})
