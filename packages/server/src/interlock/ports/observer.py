"""Who is told of what happened, to measure it. Nothing depends on what an observer does."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.effect import EffectKey, EffectState
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.run import Claim, RunStatus


class Observer(Protocol):
    """Called after the commit, in the server's loop: it neither raises nor waits."""

    def on_ask(self, requests: Sequence[Request]) -> None:
        """All of one pause."""
        ...

    def on_settlement(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None: ...

    def on_run_start(self, claim: Claim, at: datetime) -> None:
        """A worker has taken a run up."""
        ...

    def on_resume(self, run_id: str, pause_ids: Collection[str]) -> None:
        """The run goes on with the answers to these pauses."""
        ...

    def on_effect(
        self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime
    ) -> None:
        """An effect of the run has come to an end, or waits for somebody."""
        ...

    def on_run_end(self, run_id: str, status: RunStatus, at: datetime) -> None: ...

    def on_release(self, run_id: str) -> None:
        """The worker does not go on with it, whether it ended or is another's now."""
        ...

    def on_live_event(self, seconds: float) -> None:
        """A follower had an event from the bus so long after it was written."""
        ...

    def on_missed_event(self) -> None:
        """A follower had to look for events in the log that the bus did not bring."""
        ...
