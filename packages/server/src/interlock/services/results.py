"""What came of a yes: how the call ended that a person allowed, read from the thread's log."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal

from interlock.domain.event import Event, EventType
from interlock.domain.request import Answer, PauseStatus, Request, RequestKind
from interlock.domain.run import RunStatus
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction

ResultStatus = Literal[
    "elsewhere", "waiting", "running", "success", "failed", "refused", "went_on", "run_failed", "stopped"
]

_READ_AT_ONCE = 100
_ENDED: dict[str, ResultStatus] = {RunStatus.DONE: "went_on", RunStatus.FAILED: "run_failed"}


@dataclass(frozen=True, slots=True)
class Result:
    status: ResultStatus
    output: str = ""


async def result_of(tx: Transaction, thread: Thread, request: Request, answer: Answer | None) -> Result | None:
    """None where nothing was allowed to run."""
    if request.kind is not RequestKind.APPROVAL or answer is None or answer.value["decision"] not in ("accept", "edit"):
        return None
    if thread.is_outside:
        return Result("elsewhere")
    pause = await tx.pauses.get(request.pause_id)
    if pause is None or pause.status is PauseStatus.OPEN:
        return Result("waiting")
    has_gone_on = False
    async for event in _after(tx, thread.id, pause.opened_seq or 0):
        if event.type is EventType.TOOL_ENDED and request.call_id and event.data["call_id"] == request.call_id:
            return Result(event.data["status"], event.data["output"])
        has_gone_on = has_gone_on or event.type is EventType.RUN_STARTED
        if event.type is EventType.RUN_ENDED and (ended := _ended(event, request, has_gone_on)):
            return ended
    return Result("running")


def _ended(event: Event, request: Request, has_gone_on: bool) -> Result | None:
    """How the run ended that should have told of the call; None where another one will."""
    status = event.data["status"]
    if status != RunStatus.PAUSED:
        return Result(_ENDED.get(status, "stopped"), event.data.get("error", ""))
    # The first pause is the one that asked; a call that a crash cut short is asked about once more.
    return Result("went_on") if has_gone_on and request.call_id is None else None


async def _after(tx: Transaction, thread_id: str, seq: int) -> AsyncGenerator[Event]:
    while events := await tx.events.after(thread_id, seq, _READ_AT_ONCE):
        for event in events:
            yield event
        seq = events[-1].seq
