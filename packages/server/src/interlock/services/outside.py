"""Asks of agents that run elsewhere: anything that can make an HTTP call can ask a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock import failpoints
from interlock.domain.asked import checked
from interlock.domain.canonical import digest
from interlock.domain.errors import Conflict, FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.event import EventType
from interlock.domain.ids import is_own_new_thread_id, new_id, new_thread_id
from interlock.domain.principal import Principal
from interlock.domain.request import Answer, Pause, PauseOrigin, PauseStatus, Request, RequestKind, RequestStatus
from interlock.domain.thread import Thread, ThreadStatus, title_of
from interlock.services.core import Core, Unit, unit
from interlock.services.keys import agent_errors
from interlock.services.once import Once, replied_once
from interlock.services.pausing import place
from interlock.services.requesting import Asked, new_request
from interlock.services.settling import close

DEFAULT_AGENT = "external"


@dataclass(frozen=True, slots=True)
class Ask:
    kind: RequestKind
    data: Mapping[str, Any]
    """As it came; it is checked here, and every wrong field named."""
    timeout: float | None
    conversation_id: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A request that was written, and the answer that it had at once, where a grant or a saved value gave one."""

    request: Request
    answer: Answer | None


async def ask(
    core: Core, principal: Principal, what: Ask, once: Once | None, rendered: Callable[[Placed], bytes]
) -> bytes:
    """Put a request to the person behind the key, or to the caller themselves."""
    body = checked(what.kind, what.data)
    given = await replied_once(core, principal, once, lambda work: _place(work, principal, what, body), rendered)
    failpoints.hit("ask.committed")
    core.deadline_set()
    return given


async def _place(work: Unit, principal: Principal, what: Ask, body: Mapping[str, Any]) -> Placed:
    thread = await _conversation(work, principal, what, body)
    pause = Pause(new_id("pause"), thread.id, "", PauseStatus.OPEN, PauseOrigin.OUTSIDE, thread.agent, work.now)
    request = new_request(work.core.policy, work.now, thread, pause, 0, _asked(what, body, principal))
    placed = await place(work, thread, pause, [request])
    await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.PAUSED)
    if not placed.is_open:
        await close(work, thread, pause.id)
    failpoints.hit("ask.committing")
    written = await work.tx.requests.get(request.id)
    assert written is not None
    return Placed(written, (await work.tx.answers.of_requests([request.id])).get(request.id))


def _asked(what: Ask, body: Mapping[str, Any], asker: Principal) -> Asked:
    if what.kind is not RequestKind.APPROVAL:
        return Asked(what.kind, body, timeout=what.timeout)
    return Asked(
        what.kind,
        body,
        # The words for the action count too: an agent may describe it by nothing else.
        digest=digest({name: body[name] for name in ("tool_name", "args", "action")}),
        # Which tools such an agent has is not known: a permission for all of them ends with the key that asked.
        toolset=digest({"asker": asker.id}),
        timeout=what.timeout,
    )


async def _conversation(work: Unit, principal: Principal, what: Ask, body: Mapping[str, Any]) -> Thread:
    """The conversation that is asked on: the one named, if the caller asks on it, or a new one."""
    person = principal.on_behalf_of or principal
    agent = _agent(work.core, principal, what.agent)
    thread_id = what.conversation_id or new_thread_id(person.name)
    thread = await work.tx.threads.lock(thread_id)
    if thread is None and is_own_new_thread_id(thread_id, person.name):
        return await _begun(work, principal, person, agent, thread_id, _title(body))
    if thread is None or thread.asker_id != principal.id:
        raise Forbidden(
            f"no such conversation, or another's: leave conversation_id out to begin one, or use {person.name}-UUID"
        )
    # Who names no agent means the one that the conversation has.
    if what.agent is not None and thread.agent != agent:
        raise _wrong("agent", "other", f"the agent of this conversation is {thread.agent}")
    return thread


async def _begun(work: Unit, principal: Principal, person: Principal, agent: str, thread_id: str, title: str) -> Thread:
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
    await work.record(thread_id, (EventType.THREAD_CREATED, {"agent": agent, "owner": person.name}))
    return thread


def _title(body: Mapping[str, Any]) -> str:
    """By what it asks first."""
    texts = (body.get(name) for name in ("title", "question", "action"))
    return title_of(next((text for text in texts if isinstance(text, str) and text), ""))


def _agent(core: Core, principal: Principal, named: str | None) -> str:
    """The name that people see. A key has one of its own: grants and saved values go by it."""
    if principal.is_agent:
        own = principal.agent or principal.name
        if named not in (None, own):
            raise _wrong("agent", "other", f"this key asks as {own}")
        # It may be hosted since the key was made: values that people saved for it must not go elsewhere.
        named = own
    agent = named or DEFAULT_AGENT
    if errors := agent_errors(core, agent):
        raise InvalidInput("; ".join(error.message for error in errors), errors)
    return agent


def _wrong(field: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, code, message)])


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
        if request.kind is not RequestKind.ENV_VAR or request.status is not RequestStatus.ANSWERED or answer is None:
            raise Conflict("no values were given to this request", current_status=request.status)
        sealed = await work.tx.secrets.of_request(request_id)
        if answer.value["handles"] and not sealed:
            raise Conflict("the values were collected before; ask again", current_status=request.status)
        await work.tx.secrets.destroy_of_request(request_id)
        names = sorted([*answer.value["values"], *sealed])
        await work.tx.audit.append(thread.id, principal, "secret.collected", {"names": names}, work.now)
        return {**answer.value["values"], **sealed}
