"""What came of a yes: how the call ended that a person allowed, read from the thread's log."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal

from interlock.domain.event import Event, RunEnded, RunStarted, ToolEnded
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.request import Answer, PauseStatus, Request
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
    if answer is None or not isinstance(answer.value, ApprovalAnswer) or not answer.value.runs:
        return None
    if thread.is_outside:
        return Result("elsewhere")
    pause = await tx.pauses.get(request.pause_id)
    if pause is None or pause.status is PauseStatus.OPEN:
        return Result("waiting")
    has_gone_on = False
    async for event in _events_after(tx, thread.id, pause.opened_seq or 0):
        match event.data:
            case ToolEnded() as ended if ended.call_id and _is_of(ended, request):
                return Result(ended.status, ended.output)
            case RunStarted():
                has_gone_on = True
            case RunEnded() as ended:
                if result := _result_at_end(ended, request, has_gone_on):
                    return result
            case _:
                pass
    return Result("running")


def _is_of(ended: ToolEnded, request: Request) -> bool:
    """Agents inside of one another may use one id for calls of different tools."""
    return (ended.call_id, ended.tool) == (request.call_id, request.tool)


def _result_at_end(ended: RunEnded, request: Request, has_gone_on: bool) -> Result | None:
    """How the run ended that should have told of the call; None where another one will."""
    if ended.status is not RunStatus.PAUSED:
        return Result(_ENDED.get(ended.status, "stopped"), ended.error or "")
    # The first pause is the one that asked; a call that a crash cut short is asked about once more.
    return Result("went_on") if has_gone_on and request.call_id is None else None


async def _events_after(tx: Transaction, thread_id: str, seq: int) -> AsyncGenerator[Event]:
    while events := await tx.events.after(thread_id, seq, _READ_AT_ONCE):
        for event in events:
            yield event
        seq = events[-1].seq
