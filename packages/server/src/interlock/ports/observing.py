"""Who is told of what happened, to measure it. Nothing depends on what an observer does."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.claim import Claim
from interlock.domain.effect import EffectKey, EffectState
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.run import RunStatus


class Observer(Protocol):
    """Called after the commit, in the server's loop: it neither raises nor waits."""

    def asked(self, requests: Sequence[Request]) -> None:
        """All of one pause."""
        ...

    def settled(self, request: Request, status: RequestStatus, origin: AnswerOrigin, at: datetime) -> None: ...

    def began(self, claim: Claim, at: datetime) -> None:
        """A worker has taken a run up."""
        ...

    def resumes(self, run_id: str, pause_ids: Collection[str]) -> None:
        """The run goes on with the answers to these pauses."""
        ...

    def acted(self, run_id: str, key: EffectKey, tool: str, state: EffectState, began: datetime, at: datetime) -> None:
        """An effect of the run has come to an end, or waits for somebody."""
        ...

    def ended(self, run_id: str, status: RunStatus, at: datetime) -> None: ...

    def left(self, run_id: str) -> None:
        """The worker does not go on with it, whether it ended or is another's now."""
        ...

    def heard(self, seconds: float) -> None:
        """A follower had an event from the bus so long after it was written."""
        ...

    def missed(self) -> None:
        """A follower had to look for events in the log that the bus did not bring."""
        ...
