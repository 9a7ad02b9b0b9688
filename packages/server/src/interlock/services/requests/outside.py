"""Asks of agents that run elsewhere: anything that can make an HTTP call can ask a person."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from interlock import failpoints
from interlock.domain.canonical import digest
from interlock.domain.errors import Conflict, FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.event import ThreadCreated
from interlock.domain.ids import is_own_new_thread_id, keyed_thread_id, new_id, new_thread_id
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalBody, Body, EnvVarAnswer, RequestKind, read_ask
from interlock.domain.names import is_like_any
from interlock.domain.principal import Principal
from interlock.domain.request import Answer, Pause, PauseOrigin, PauseStatus, Request, RequestStatus
from interlock.domain.terms import Terms, wanted_terms
from interlock.domain.terms_reading import read_candidates
from interlock.domain.thread import Thread, ThreadStatus, title_of
from interlock.services.access.keys import agent_errors
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.idempotency import IdempotentCall, reply_once
from interlock.services.requests.opening import NewRequest, new_request, place
from interlock.services.requests.settling import close
from interlock.services.teams.routing import check_candidates, lack_of_people

DEFAULT_AGENT = "external"
MOST_DELETED = 32
"""Conversations under one key of the asker's."""


@dataclass(frozen=True, slots=True)
class AskedNeeds:
    """What an asker wants of people, beyond what a rule says."""

    people: int = 1
    candidates: tuple[str, ...] = ()
    separate: bool | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    kind: RequestKind
    data: JsonObject
    """As it came; it is checked here, and every wrong field named."""
    timeout: float | None
    conversation_id: str | None = None
    agent: str | None = None
    conversation_key: str | None = None
    """The asker's own name for a conversation, in place of an id."""
    title: str | None = None
    """Of a conversation that is begun with it."""
    definition: str | None = None
    """Of an approval: the digest of the tool's definition, where more is known of the tool than the ask says."""
    needs: AskedNeeds | None = None


@dataclass(frozen=True, slots=True)
class AskResult:
    """A request that was written, and the answer that it had at once, where a grant or a saved value gave one."""

    request: Request
    answer: Answer | None


async def ask(
    core: Core,
    principal: Principal,
    what: Ask,
    idempotent_call: IdempotentCall | None,
    render: Callable[[AskResult], bytes],
) -> bytes:
    """Put a request to the person behind the key, or to the caller themselves."""
    if what.conversation_id is not None and what.conversation_key is not None:
        raise _wrong("conversation_key", "not_allowed", "conversation_key goes without conversation_id")
    body = read_ask(what.kind, what.data)
    given = await reply_once(
        core, principal, idempotent_call, lambda work: place_ask(work, principal, what, body), render
    )
    after_commit(core)
    return given


def after_commit(core: Core) -> None:
    """An ask was committed."""
    failpoints.hit("ask.committed")
    core.deadline_set.set()


async def place_ask(work: Unit, principal: Principal, what: Ask, body: Body) -> AskResult:
    """Put a request, in the caller's transaction."""
    terms = await _terms(work, principal, what.needs, body) if what.needs is not None else None
    thread = await lock_conversation(work, principal, what, _title(body))
    return await ask_on(work, thread, replace(_new_request(what, body, principal), terms=terms))


async def _terms(work: Unit, principal: Principal, needs: AskedNeeds, body: Body) -> Terms | None:
    problems: list[str] = []
    candidates = read_candidates(list(needs.candidates), "needs.from", problems.append) if needs.candidates else ()
    if problems:
        raise _wrong("needs.from", "form", problems[0])
    if needs.people > 1 and not isinstance(body, ApprovalBody):
        raise _wrong("needs.people", "not_allowed", "only an approval takes several people")
    terms = wanted_terms(needs.people, candidates, separate=needs.separate)
    if terms.takes_another and not work.core.settings.with_accounts:
        field = "needs.people" if terms.is_vote else "needs.separate"
        raise _wrong(field, "not_allowed", "this server runs without accounts: two people cannot be told apart")
    await check_candidates(work.tx, candidates, "needs.from")
    if lack := await lack_of_people(work.tx, terms, [principal.person_id] if terms.separate else []):
        raise _wrong("needs.people", "too_many", lack)
    return None if terms == wanted_terms(1, (), separate=False) else terms


async def ask_on(work: Unit, thread: Thread, question: NewRequest) -> AskResult:
    """The same, on a conversation that is locked."""
    pause = Pause(new_id("pause"), thread.id, "", PauseStatus.OPEN, PauseOrigin.OUTSIDE, thread.agent, work.now)
    request = new_request(work.core.settings, work.now, thread, pause, 0, question)
    opened = await place(work, thread, pause, [request])
    await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.PAUSED)
    if not opened.is_open:
        await close(work, thread, pause.id)
    failpoints.hit("ask.committing")
    written = await work.tx.requests.get(request.id)
    assert written is not None
    return AskResult(written, (await work.tx.answers.of_requests([request.id])).get(request.id))


def _new_request(what: Ask, body: Body, asker: Principal) -> NewRequest:
    if not isinstance(body, ApprovalBody):
        return NewRequest(body, timeout=what.timeout)
    return NewRequest(
        body,
        # The words for the action count too: an agent may describe it by nothing else.
        digest=digest({"tool_name": body.tool_name, "args": body.args, "action": body.action}),
        # Which tools such an agent has is not known: a permission for all of them ends with the key that asked.
        toolset=digest({"asker": asker.id}),
        definition=what.definition,
        timeout=what.timeout,
    )


async def lock_conversation(work: Unit, principal: Principal, what: Ask, untitled: str) -> Thread:
    """The conversation that is asked on: the one named, if the caller asks on it, or a new one. It is locked."""
    person = principal.on_behalf_of or principal
    agent = _agent(work.core, principal, what.agent)
    title = title_of(what.title or "") or untitled
    if what.conversation_key is not None:
        thread = await _lock_keyed_thread(work, principal, agent, what.conversation_key, title)
    else:
        thread_id = what.conversation_id or new_thread_id(person.name)
        thread = await work.tx.threads.lock(thread_id)
        if thread is None and is_own_new_thread_id(thread_id, person.name):
            return await _create_thread(work, principal, agent, thread_id, title)
    if thread is None or thread.asker_id != principal.id:
        raise Forbidden(
            f"no such conversation, or another's: leave conversation_id out to begin one, or use {person.name}-UUID"
        )
    # Who names no agent means the one that the conversation has.
    if what.agent is not None and thread.agent != agent:
        raise _wrong("agent", "other", f"the agent of this conversation is {thread.agent}")
    return thread


async def _lock_keyed_thread(work: Unit, principal: Principal, agent: str, key: str, title: str) -> Thread:
    person = principal.on_behalf_of or principal
    for deleted in range(MOST_DELETED):
        thread_id = keyed_thread_id(person.name, principal.id, key, deleted)
        thread = await work.tx.threads.lock(thread_id)
        if thread is not None:
            return thread
        # Deleted: who tidies up does not end what is asked after it.
        with suppress(Forbidden):
            return await _create_thread(work, principal, agent, thread_id, title)
    raise Forbidden("the conversations of this key were deleted; use another conversation_key")


async def _create_thread(work: Unit, principal: Principal, agent: str, thread_id: str, title: str) -> Thread:
    person = principal.on_behalf_of or principal
    thread = Thread(
        thread_id, person.id, agent, title, ThreadStatus.IDLE, 0, 0, 0, work.now, work.now, asker_id=principal.id
    )
    try:
        await work.tx.threads.add(thread)
    except Conflict as error:
        # Another ask began it a moment before, or it was deleted.
        begun = await work.tx.threads.lock(thread_id)
        if begun is None or begun.asker_id != principal.id:
            raise Forbidden("this conversation was deleted") from error
        return begun
    await work.record(thread_id, ThreadCreated(agent, person.name))
    return thread


def _title(body: Body) -> str:
    """By what it asks first; of a call what lists say of it, which its asker's own words for it may not."""
    if isinstance(body, ApprovalBody):
        return title_of(body.headline)
    fields = body.to_json()
    texts = (fields.get(name) for name in ("title", "question"))
    return title_of(next((text for text in texts if isinstance(text, str) and text), ""))


def _agent(core: Core, principal: Principal, named: str | None) -> str:
    """The name that people see. A key has one of its own: grants and saved values go by it."""
    if principal.is_agent:
        own = principal.agent or principal.name
        if named not in (None, own):
            raise _wrong("agent", "other", f"this key asks as {own}")
        # It may be hosted since the key was made: values that people saved for it must not go elsewhere.
        if is_like_any(own, core.agents.names):
            raise _wrong("agent", "taken", f"{own} is hosted here, or too like one that is")
        return own
    agent = named or DEFAULT_AGENT
    if errors := agent_errors(core, agent):
        raise InvalidInput("; ".join(error.message for error in errors), errors)
    return agent


def _wrong(field: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, code, message)])


async def check_asker(core: Core, principal: Principal, request_id: str) -> None:
    """`Forbidden` for whoever did not ask it themselves, with this credential."""
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        if request is None:
            raise NotFound("there is no such request", request_id=request_id)
        thread = await tx.threads.get(request.thread_id)
    if thread is None or thread.asker_id != principal.id:
        raise Forbidden("the request is not yours")


async def collect(core: Core, principal: Principal, request_id: str) -> dict[str, str]:
    """The values that were given to an ask for variables: for the asker, once; they are destroyed with it."""
    async with unit(core) as work:
        request = await work.tx.requests.get(request_id)
        if request is None:
            raise NotFound("there is no such request", request_id=request_id)
        thread = await work.tx.threads.lock(request.thread_id)
        if thread is None or thread.asker_id != principal.id:
            raise Forbidden("only who asked is told the values")
        answer = (await work.tx.answers.of_requests([request_id])).get(request_id)
        given = answer.value if answer else None
        if not isinstance(given, EnvVarAnswer) or request.status is not RequestStatus.ANSWERED:
            raise Conflict("no values were given to this request")
        sealed = await work.tx.secrets.of_request(request_id)
        if given.handles and not sealed:
            raise Conflict("the values were collected before; ask again")
        await work.tx.secrets.destroy_of_request(request_id)
        names = sorted([*given.values, *sealed])
        await work.tx.audit.append(thread.id, principal, "secret.collected", {"names": names}, work.now)
        return {**given.values, **sealed}
