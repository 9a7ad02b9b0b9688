"""Answers that need no person: what was granted before, and values that were saved. Each says where it comes from."""

from interlock.domain.errors import InvalidAnswer, NotFound
from interlock.domain.grant import Grant, covers, deciding
from interlock.domain.principal import SYSTEM, Principal, principal_of
from interlock.domain.request import AnswerOrigin, Request, RequestKind, RequestStatus
from interlock.domain.saved_secret import answerable_from
from interlock.domain.thread import Thread
from interlock.services.core import Unit
from interlock.services.settling import Settlement


async def standing_answer(work: Unit, thread: Thread, request: Request) -> Settlement | None:
    """How the request is settled at once, or None where a person has to be asked."""
    if request.kind is RequestKind.APPROVAL:
        return await _granted(work, thread, request)
    if request.kind is RequestKind.ENV_VAR:
        return await _saved(work, request)
    return None


async def _granted(work: Unit, thread: Thread, request: Request) -> Settlement | None:
    live = await work.tx.grants.live(request.owner_id, request.agent)
    held: dict[str, Principal] = {}
    for grant in live:
        if covers(grant, request) and (giver := await _giver(work, thread, grant)) is not None:
            held[grant.id] = giver
    grant = deciding([grant for grant in live if grant.id in held], request)
    if grant is None:
        return None
    refused = {"decision": "reject", "message": f"{grant.by_name} said not to do this, and to remember it"}
    value = {"decision": "accept"} if grant.allow else refused
    if not _is_taken(work, request, value):
        return None
    await work.tx.grants.used(grant.id, work.now)
    return Settlement(
        RequestStatus.ANSWERED,
        held[grant.id],
        "grant",
        value=value,
        origin=AnswerOrigin.GRANT,
        metadata={"grant_id": grant.id, "granted_at": grant.created_at.isoformat(), "granted_by": grant.by_name},
    )


def _is_taken(work: Unit, request: Request, value: dict[str, str]) -> bool:
    """Whether the graph would take such an answer; where it would not, a person is asked."""
    try:
        if "shape" in request.form:
            work.core.agents.check(request, value)
    except InvalidAnswer:
        return False
    return True


async def _giver(work: Unit, thread: Thread, grant: Grant) -> Principal | None:
    """Who gave the grant, if they may still answer here: a reviewer's grants end with their role."""
    user = await work.tx.users.get(grant.by_id)
    if user is None or not principal_of(user).may_answer(thread):
        return None
    return principal_of(user)


async def _saved(work: Unit, request: Request) -> Settlement | None:
    fields = request.body["fields"]
    if not request.body["allow_save"]:
        return None
    found = await work.tx.saved_secrets.named(request.owner_id, request.agent, [field["name"] for field in fields])
    names = answerable_from(fields, found)
    if names is None:
        return None
    try:
        values = {name: await work.tx.saved_secrets.value(found[name].id) for name in names}
    except NotFound:
        # Deleted in this very moment.
        return None
    saved_by = sorted({found[name].by_name for name in names})
    return Settlement(
        RequestStatus.ANSWERED,
        SYSTEM,
        "saved",
        value={"values": values, "save": False},
        origin=AnswerOrigin.SAVED,
        metadata={"saved": names, "saved_by": saved_by},
    )
