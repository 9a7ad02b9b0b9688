"""The answers on record that the graph has not taken yet, and what follows from them for the run."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from interlock.domain.request import PauseOrigin, Request
from interlock.runners import doubts, replies
from interlock.runners.graph_state import GraphState
from interlock.services.running import SettledPause


class Answered:
    def __init__(self, pauses: Sequence[SettledPause] = ()) -> None:
        self.pauses = list(pauses)
        self.by_interrupt: dict[str, list[Request]] = {}
        for request in self._requests():
            if request.interrupt_id is not None:
                self.by_interrupt.setdefault(request.interrupt_id, []).append(request)

    @property
    def answers(self) -> Mapping[str, Any]:
        return {key: answer for pause in self.pauses for key, answer in pause.answers.items()}

    def resumes(self, state: GraphState) -> tuple[dict[str, Any], set[str]]:
        """Values for the interrupts that still wait, and those of them of which the graph cannot be told.

        One that is gone was consumed; one unknown is a new question.
        """
        resume: dict[str, Any] = {}
        untold: set[str] = set()
        for interrupt_id, requests in self.by_interrupt.items():
            if interrupt_id not in state.pending:
                continue
            value = replies.resume_value(requests, self.answers)
            if value is replies.UNTOLD:
                untold.add(interrupt_id)
            else:
                resume[interrupt_id] = value
        return resume, untold

    def done_with(self, state: GraphState | None, dropped: Collection[str] = ()) -> list[str]:
        """The pauses of which nothing is asked by the graph any more; what was dropped is asked by another pause.

        Without a state: effects in doubt are asked about before anything is sent, and the rest is still to be sent.
        """
        if state is None:
            return [pause.pause.id for pause in self.pauses if pause.pause.origin is PauseOrigin.EFFECT]
        asked = {
            request.pause_id
            for interrupt_id, requests in self.by_interrupt.items()
            if interrupt_id in state.pending and interrupt_id not in dropped
            for request in requests
        }
        return [pause.pause.id for pause in self.pauses if pause.pause.id not in asked]

    def approved(self) -> dict[str, set[str]]:
        """By call, the digests of what may run."""
        answers = self.answers
        approved: dict[str, set[str]] = {}
        for request in self._requests():
            if request.call_id is not None and request.digest is not None and request.id in answers:
                digest = replies.approved_digest(request, answers[request.id].value)
                if digest is not None:
                    approved.setdefault(request.call_id, set()).add(digest)
        return approved

    def unsent_message(self) -> str | None:
        """A message that waited until the doubt about effects before it was settled."""
        return next(
            (request.form[doubts.UNSENT] for request in self._requests() if request.form.get(doubts.UNSENT)), None
        )

    def refused_at_breakpoint(self) -> bool:
        answers = self.answers
        return any(
            request.id not in answers or answers[request.id].value["decision"] != "accept"
            for request in self._requests(PauseOrigin.BREAKPOINT)
        )

    def passed_breakpoints(self) -> set[str]:
        """The checkpoints at which people were asked."""
        return {request.form["checkpoint"] for request in self._requests(PauseOrigin.BREAKPOINT)}

    def _requests(self, origin: PauseOrigin | None = None) -> list[Request]:
        return [request for pause in self.pauses if origin in (None, pause.pause.origin) for request in pause.requests]
