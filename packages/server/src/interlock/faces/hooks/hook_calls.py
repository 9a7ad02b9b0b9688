"""The calls whose replies this process holds, and those that it allowed and that have not ended yet."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any

from interlock_client.hook.call import Call, End
from interlock_client.hook.requests import call_of

MOST_RUNNING = 10_000


@dataclass(frozen=True)
class HookCall:
    asker_id: str
    session: str
    call: str
    prompt: str
    by_subagent: bool

    @classmethod
    def of(cls, asker_id: str, call: Call) -> "HookCall":
        return cls(asker_id, call.session, call_of(call), call.prompt, bool(call.subagent))


class HookCalls:
    """As `interlock_client.hook.notes`, for connections in place of processes."""

    def __init__(self) -> None:
        self._held_calls: dict[str, HookCall] = {}
        self._running_calls: list[HookCall] = []
        self._leave_tasks: set[asyncio.Task[None]] = set()

    def leave(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it when the connection is gone; a task that nobody holds may vanish."""
        task = asyncio.create_task(work)
        self._leave_tasks.add(task)
        task.add_done_callback(self._leave_tasks.discard)

    def hold(self, request_id: str, call: HookCall) -> None:
        self._held_calls[request_id] = call

    def release(self, request_id: str, runs: str = "") -> None:
        """It is answered; `runs` is the call that is run now, if any is."""
        call = self._held_calls.pop(request_id, None)
        if call is not None and runs:
            self._running_calls = [*self._running_calls[-MOST_RUNNING:], replace(call, call=runs)]

    def record_end(self, asker_id: str, end: End) -> list[str]:
        """The requests to withdraw."""
        if end.call:
            return self._ran(asker_id, end)
        self._running_calls = [call for call in self._running_calls if not _is_of(call, asker_id, end)]
        return [request_id for request_id, call in self._held_calls.items() if _is_of(call, asker_id, end)]

    def _ran(self, asker_id: str, end: End) -> list[str]:
        """None where a person allowed it here, else the oldest that is alike."""
        ran = (asker_id, end.session, end.call)
        for call in self._running_calls:
            if (call.asker_id, call.session, call.call) == ran:
                self._running_calls.remove(call)
                return []
        alike = (name for name, call in self._held_calls.items() if (call.asker_id, call.session, call.call) == ran)
        return list(alike)[:1]


def _is_of(call: HookCall, asker_id: str, end: End) -> bool:
    is_theirs = (call.asker_id, call.session) == (asker_id, end.session)
    return is_theirs and end.is_of(call.prompt, by_subagent=call.by_subagent)
