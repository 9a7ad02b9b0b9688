"""The answers on record that the graph has not taken yet, and what follows from them for the run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from interlock.domain.form import EffectInDoubt
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.preview import FILE_SHOWN, INBOX, FilePreview
from interlock.domain.request import Answer, AnswerOrigin, PauseOrigin, Request
from interlock.domain.run import Run
from interlock.domain.run_input import MessageInput, RunInput
from interlock.runners import replies
from interlock.runners.graph_state import GraphState
from interlock.services.runs.effects import ApprovedCall, RefusedCall
from interlock.services.runs.lifecycle import SettledPause


def _is_yes(answer: Answer) -> bool:
    """Of a person: what a grant allows nobody has looked at."""
    return answer.origin is AnswerOrigin.PERSON and isinstance(answer.value, ApprovalAnswer) and answer.value.runs


def _sha256_in_inbox(answer: Answer) -> str | None:
    """The inbox shows a file as it is when somebody looks, which may be another than when it was asked about."""
    shown_file = answer.metadata.get(FILE_SHOWN) if answer.source == INBOX else None
    return shown_file if isinstance(shown_file, str) else None


def _asker_of(request: Request) -> tuple[str | None, str | None]:
    """The graph that asked, and the effects inside of which it did."""
    binding = request.form.binding if request.form else None
    return (binding.space, binding.asker) if binding else (None, None)


class RecordedAnswers:
    def __init__(
        self, pauses: Sequence[SettledPause] = (), calls: Sequence[tuple[Request, Answer | None]] = ()
    ) -> None:
        self.pauses = list(pauses)
        self._calls = list(calls)
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
        unanswerable: set[str] = set()
        for interrupt_id, requests in self.by_interrupt.items():
            if interrupt_id not in state.pending:
                continue
            value = replies.resume_value(requests, self.answers)
            if value is replies.NO_REPLY:
                unanswerable.add(interrupt_id)
            else:
                resume[interrupt_id] = value
        return resume, unanswerable

    def finished_pauses(self, state: GraphState | None) -> list[str]:
        """The pauses of which nothing is asked by the graph any more.

        Without a state: effects in doubt are asked about before anything is sent, and the rest is still to be sent.
        """
        if state is None:
            return [pause.pause.id for pause in self.pauses if pause.pause.origin is PauseOrigin.EFFECT]
        pending = {
            request.pause_id
            for interrupt_id, requests in self.by_interrupt.items()
            if interrupt_id in state.pending
            for request in requests
        }
        return [pause.pause.id for pause in self.pauses if pause.pause.id not in pending]

    def approved_calls(self) -> list[ApprovedCall]:
        """The calls that may run."""
        answers = self.answers
        calls: list[ApprovedCall] = []
        for request in self._requests():
            if request.call_id is not None and request.digest is not None and request.id in answers:
                digest = replies.approved_digest(request, answers[request.id].value)
                if digest is not None:
                    calls.append(ApprovedCall(request.call_id, digest, *_asker_of(request)))
        return calls

    def refused_calls(self) -> list[RefusedCall]:
        """The calls of the turn that may not run, whatever the graph makes of the answer: their last word was a no.

        A graph is run again with every answer, and may ask with another condition by then. The whole turn, since it is
        run again with the answers to later asks too.
        """
        last: dict[tuple[str | None, ...], RefusedCall | None] = {}
        for request, answer in self._calls:
            call = request.call_id or "", request.digest or "", *_asker_of(request)
            refusal = replies.refusal(request, answer.value if answer else None)
            last[call] = RefusedCall(*call, refusal) if refusal else None
        return [one for one in last.values() if one is not None]

    def shown_files(self) -> dict[tuple[str, str], FilePreview]:
        """By call and digest of what may run, the file behind it as the person was shown it who allowed it."""
        files: dict[tuple[str, str], FilePreview] = {}
        for request in self._requests():
            answer: Answer | None = self.answers.get(request.id)
            if request.call_id is None or request.file is None or answer is None or not _is_yes(answer):
                continue
            digest = replies.approved_digest(request, answer.value)
            if digest is not None:
                files[request.call_id, digest] = replace(
                    request.file, sha256=_sha256_in_inbox(answer) or request.file.sha256
                )
        return files

    def unsent_input(self, turn: Run) -> RunInput | None:
        """What waited until the doubt about effects before it was settled, of the turn that this run started."""
        for request in self._requests():
            shape = request.form.shape if request.form else None
            if isinstance(shape, EffectInDoubt) and shape.unsent:
                return MessageInput(shape.unsent)
            if isinstance(shape, EffectInDoubt) and shape.unsent_run == turn.id:
                return turn.input
        return None

    def _requests(self) -> list[Request]:
        return [request for pause in self.pauses for request in pause.requests]
