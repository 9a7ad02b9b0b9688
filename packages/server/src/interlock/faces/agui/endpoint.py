"""`POST /api/v1/agui/{agent}`: a message, answers, or nothing new, and back comes what happens then."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Annotated, Any, TypeGuard

from ag_ui.core import Message, ResumeEntry, RunAgentInput, TextPart, UserMessage
from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import Response

from interlock.domain.errors import (
    AlreadySettled,
    FieldError,
    InvalidAnswer,
    InvalidInput,
    NotEligible,
    NotFound,
    ThreadBusy,
)
from interlock.domain.ids import is_own_new_thread_id, keyed_thread_id, named_run_id
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import RequestKind
from interlock.domain.principal import Principal
from interlock.domain.request import Answer, RequestEnd, RequestStatus
from interlock.domain.request import Request as Asked
from interlock.domain.run_input import MessageInput, RunSettings
from interlock.domain.thread import Thread, ThreadStatus
from interlock.faces.agui.events import EVENTS, already_answered
from interlock.faces.agui.kinds import reply_of
from interlock.faces.agui.streaming import RunNames, RunStream
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.documented import problems, stream
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import EventStream
from interlock.faces.shared.refusals import needs_text
from interlock.faces.shared.responses import message_of
from interlock.services.requests import answering
from interlock.services.requests.answering import Reply, Sender
from interlock.services.threads import messages, threads

SOURCE = "agui"
MOST_RESUMED = 1_000
"""How many interrupts one call may name: each is looked for."""
OWN_MESSAGE = "msg_"
"""What the ids of messages begin with in our snapshots, before the id of their run."""

Stream = AsyncGenerator[bytes]

router = APIRouter(prefix="/api/v1/agui", tags=["agui"])


@router.get("/{agent}", responses=problems(401, 404))
async def capabilities(request: Request, caller: Caller, agent: str) -> Response:
    """What this agent can do, as `AgentCapabilities`."""
    _check_agent(request, agent)
    return LenientJSONResponse(
        {
            "identity": {"name": agent, "type": "interlock"},
            "transport": {"streaming": True, "resumable": False},
            "tools": {"supported": True, "clientProvided": False},
            "humanInTheLoop": {"supported": True, "approvals": True, "interrupts": True, "approveWithEdits": True},
        }
    )


@router.post(
    "/{agent}", response_class=Response, dependencies=[Depends(stream_slot)], responses=stream(EVENTS, 400, 401, 404)
)
async def run(
    request: Request,
    caller: Caller,
    agent: str,
    body: RunAgentInput,
    x_on_disconnect: Annotated[
        str | None, Header(description="`continue` lets the run go on when its followers have gone.")
    ] = None,
) -> Response:
    """Run the agent with the last message of the body if that is new, or with answers to what it waits for.

    With neither, what is true now: a run under way is followed, what is open is shown again.
    """
    _check_agent(request, agent)
    thread_id, thread = await _thread(request, caller, agent, body.thread_id)
    names = RunNames(
        body.thread_id,
        body.run_id,
        knows_cancelled=body.protocol_version is not None,
        messages={f"{OWN_MESSAGE}{_run_of(thread_id, one)}": one.id for one in body.messages if is_user_message(one)},
    )
    call = _Call(request, caller, agent, thread_id, thread, detached=x_on_disconnect == "continue")
    return EventStream(await call.events(body, RunStream(request, caller, thread_id, names)), caller=caller.id)


def _check_agent(request: Request, agent: str) -> None:
    names = state_of(request).core.agents.names
    if agent not in names:
        raise NotFound(f"there is no agent {agent!r}; known: {', '.join(names)}")


async def _thread(request: Request, caller: Principal, agent: str, name: str) -> tuple[str, Thread | None]:
    """The thread that the caller means by this name: one that they see, or one of their own under a name of theirs."""
    async with state_of(request).core.store.snapshot() as tx:
        thread = await tx.threads.get(name)
        if thread is not None:
            threads.visible(caller, thread)
            if thread.agent != agent:
                message = f"the agent of this thread is {thread.agent}"
                raise InvalidInput(message, [FieldError("threadId", "other_agent", message)])
            return name, thread
        if is_own_new_thread_id(name, caller.name):
            return name, None
        thread_id = keyed_thread_id(caller.name, f"{caller.person_id} {SOURCE} {agent}", name, 0)
        return thread_id, await tx.threads.get(thread_id)


class _Call:
    def __init__(
        self,
        request: Request,
        caller: Principal,
        agent: str,
        thread_id: str,
        thread: Thread | None,
        *,
        detached: bool,
    ) -> None:
        self._request = request
        self._core = state_of(request).core
        self._caller = caller
        self._agent = agent
        self._thread_id = thread_id
        self._thread = thread
        self._detached = detached

    async def events(self, body: RunAgentInput, out: RunStream) -> Stream:
        if body.parent_run_id is not None:
            return out.refusal("NOT_SUPPORTED", "parentRunId: runs do not branch here")
        if body.resume:
            return await self._resume(body.resume, out)
        last = body.messages[-1] if body.messages else None
        if is_user_message(last) and not await self._is_own(last):
            return await self._send(last, _graph_context(body), out)
        return out.present() if self._thread is not None else out.nothing()

    async def _is_own(self, message: UserMessage) -> bool:
        """Whether it is from a snapshot of ours."""
        async with self._core.store.snapshot() as tx:
            run = await tx.runs.get(message.id.removeprefix(OWN_MESSAGE))
        return message.id.startswith(OWN_MESSAGE) and run is not None and run.thread_id == self._thread_id

    async def _send(self, message: UserMessage, given: JsonObject, out: RunStream) -> Stream:
        text = _text_of(message)
        if text is None:
            return out.refusal("NOT_SUPPORTED", "only text is taken in a message")
        try:
            started = await messages.send_input(
                self._core,
                self._caller,
                self._thread_id,
                MessageInput(text, settings=RunSettings({SOURCE: given} if given else {})),
                detached=self._detached,
                agent=self._agent,
                run_id=_run_of(self._thread_id, message),
            )
        except ThreadBusy as error:
            if error.status is ThreadStatus.PAUSED:
                return out.refusal("INTERRUPTS_PENDING", "answer what is open first; the message was not taken")
            return out.refusal("RUN_ACTIVE", "the thread is running; the message was not taken")
        return out.run(started.run.id, started.seq)

    async def _resume(self, entries: Sequence[ResumeEntry], out: RunStream) -> Stream:
        if len(entries) > MOST_RESUMED:
            return out.refusal("INVALID_RESUME", f"resume must name {MOST_RESUMED} interrupts at the most")
        given = {entry.interrupt_id: entry for entry in entries}
        requests, answers = await self._find_requests(given)
        if len(requests) < len(given):
            return out.refusal("NO_SUCH_INTERRUPT", f"not on this thread: {', '.join(given.keys() - requests.keys())}")
        if len(given) < len(entries):
            return out.refusal("INVALID_RESUME", "an interrupt is named twice")
        if events := self._present_settled(requests, answers, given, out):
            return events
        return await self._answer(next(iter(requests.values())).pause_id, given, out)

    def _present_settled(
        self,
        requests: Mapping[str, Asked],
        answers: Mapping[str, Answer],
        given: Mapping[str, ResumeEntry],
        out: RunStream,
    ) -> Stream | None:
        """What is told where some of it is no longer open; None where all is."""
        settled = [one for one in requests.values() if one.status is not RequestStatus.PENDING]
        return out.present(self._earlier_answers(settled, answers, given), tells_failure=True) if settled else None

    async def _find_requests(self, given: Mapping[str, ResumeEntry]) -> tuple[dict[str, Asked], dict[str, Answer]]:
        async with self._core.store.snapshot() as tx:
            found = [await tx.requests.get(request_id) for request_id in given]
            answers = await tx.answers.of_requests(list(given))
        mine = {one.id: one for one in found if one is not None and one.thread_id == self._thread_id}
        return mine, answers

    def _earlier_answers(
        self, settled: Sequence[Asked], answers: Mapping[str, Answer], given: Mapping[str, ResumeEntry]
    ) -> list[dict[str, Any]]:
        """Who was first, where that was somebody else or with another answer."""
        return [
            already_answered(RequestEnd.of(one, answers.get(one.id)))
            for one in settled
            if not self._is_same(one, answers.get(one.id), given[one.id])
        ]

    def _is_same(self, request: Asked, answer: Answer | None, entry: ResumeEntry) -> bool:
        if answer is None or answer.by_id != self._caller.id:
            return False
        try:
            value = _reply(request, entry).value
            return value is not None and request.check(value) == answer.value
        except InvalidInput:
            return False

    async def _answer(self, pause_id: str, given: Mapping[str, ResumeEntry], out: RunStream) -> Stream:
        def choose(pending: Sequence[Asked]) -> list[Reply]:
            if {one.id for one in pending} != set(given):
                raise _NotCovered
            return [_reply(one, given[one.id]) for one in pending]

        sender = Sender(self._caller, SOURCE)
        try:
            settled = await answering.answer_pause(
                self._core, sender, self._thread_id, pause_id, choose, detached=self._detached
            )
        except _NotCovered:
            # Somebody may have answered a part of it since it was looked up.
            if events := self._present_settled(*await self._find_requests(given), given, out):
                return events
            return out.refusal("INTERRUPTS_NOT_COVERED", "resume names only some of what is open; nothing was taken")
        except AlreadySettled as error:
            return out.present([already_answered(error.end)], tells_failure=True)
        except InvalidAnswer as error:
            message = message_of(error, locale_of(self._request), '"payload": {"answer": %s}')
            return out.refusal("INVALID_RESUME", message)
        except NotEligible as error:
            return out.refusal("NOT_ELIGIBLE", needs_text(error, locale_of(self._request)))
        if settled.run is None:
            # Counted, and others have to say yes as well: it is still open.
            return out.present()
        return out.run(settled.run.id, settled.seq)


class _NotCovered(Exception):
    pass


def _reply(request: Asked, entry: ResumeEntry) -> Reply:
    if entry.status == "resolved":
        return reply_of(request, entry.payload)
    is_approval = request.kind is RequestKind.APPROVAL
    return Reply(request.id, {"decision": "reject"} if is_approval else None, reason=None)


def _graph_context(body: RunAgentInput) -> JsonObject:
    """What the application hands to the graph beside the message; nothing where it hands over nothing."""
    handed = {
        "state": body.state,
        "context": [one.model_dump(mode="json") for one in body.context or ()],
        "forwardedProps": body.forwarded_props,
    }
    return {name: value for name, value in handed.items() if value}


def is_user_message(message: Message | None) -> TypeGuard[UserMessage]:
    return isinstance(message, UserMessage)


def _run_of(thread_id: str, message: UserMessage) -> str:
    """The run that this message starts, whenever it comes; the same id with another text is another message."""
    return named_run_id(thread_id, f"{message.id}\n{_text_of(message)}")


def _text_of(message: UserMessage) -> str | None:
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    return "\n".join(texts) if len(texts) == len(message.content) else None
