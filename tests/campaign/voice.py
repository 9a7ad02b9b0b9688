"""A person at a face, each of whose acts is in the history: what they meant, and what they were told."""

from collections.abc import Mapping
from typing import Any

from tests.behaviour.driver import FACES, Asked, Outcome, Person
from tests.campaign.history import Call, History, winner
from tests.support.people import People

APPROVE = "accept"
REFUSE = "reject"


class Voice:
    def __init__(self, history: History, people: People, name: str, face: str) -> None:
        self._history = history
        self._person: Person = FACES[face](people, name)
        self.name, self.face = name, face

    def say(self, conversation: str, thread: str, message: str, mark: str) -> Call:
        with self._history.calling(self.name, self.face, "say", thread, mark) as call:
            self._note(call, lambda: self._person.say(conversation, message))
        return call

    def sees(self, conversation: str) -> Asked | None:
        """The one thing that waits there, as this face shows it."""
        try:
            pending = self._person.pending(conversation) or ()
        except Exception:
            return None
        return pending[0] if len(pending) == 1 else None

    def answer(self, conversation: str, request: str, asked: Asked, word: str) -> Call:
        """`word` is `accept`, `reject REASON`, or the text of an answer."""
        with self._history.calling(self.name, self.face, "answer", request, winner(self.name, word)) as call:
            call.repeats = self._person.repeats
            self._note(call, lambda: self._act(conversation, asked, word))
        return call

    def _act(self, conversation: str, asked: Asked, word: str) -> Outcome:
        kind, _, reason = word.partition(" ")
        if asked.kind != "approval":
            return self._person.answer(conversation, word, asked=asked)
        if kind == APPROVE:
            return self._person.approve(conversation, asked)
        return self._person.refuse(conversation, reason, asked)

    def _note(self, call: Call, act: Any) -> None:
        """What breaks off, or ends in what the face has no word for, may have counted."""
        try:
            outcome: Outcome = act()
        except Exception as error:
            call.note = type(error).__name__
            return
        match outcome.state:
            case "done" | "paused":
                call.came = "accepted"
            case "failed":
                call.note = outcome.text
            case "conflict" if call.verb == "answer" and outcome.told.get("answered_at"):
                call.came, call.told = "lost", winner_told(outcome.told)
            case _:
                call.came = "refused"


def winner_told(told: Mapping[str, Any]) -> str:
    """How a face tells of the answer that counts, in the words of who sent it."""
    answer: Mapping[str, Any] = told.get("answer") or told.get("response") or {}
    return winner(told["answered_by"], _word(answer) or told.get("current_status") or told["status"])


def _word(answer: Mapping[str, Any]) -> str:
    if texts := answer.get("answers"):
        return str(texts[0])
    if "granted" in answer and "decision" not in answer:
        answer = {**answer, "decision": APPROVE if answer["granted"] else REFUSE}
    decision = str(answer.get("decision", ""))
    reason = str(answer.get("message") or answer.get("reason") or "") if decision == REFUSE else ""
    return f"{decision} {reason}".strip()
