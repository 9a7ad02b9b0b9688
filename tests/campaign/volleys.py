"""Many answers to one question at the same moment, at every HTTP face and at each server: one of them counts."""

import json
import logging
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.campaign.campaign import Figures, finish
from tests.campaign.history import Asked, History, winner
from tests.campaign.lane import Lane, Talk
from tests.campaign.stage import ADMIN, Stage
from tests.campaign.voice import winner_told
from tests.durability.racing import Outcome, Shot, race
from tests.support import inbox
from tests.support.hitl import HITL
from tests.support.puppet import calls, script
from tests.support.waiting import wait_for

CHAPTER = 50
"""Rounds after which the history is checked and a new one begun."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """One thing that is asked, by the name that each face has for it."""

    user: str
    thread: str
    request: str
    digest: str
    interrupt: str

    def shots(self, answers: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
        """By the face: path and body."""
        given = {"answers": list(answers)}
        entry = {"interruptId": self.request, "status": "resolved", "payload": given}
        args = {**given, "request_id": self.request}
        return {
            "threads": (f"/api/resume/{self.thread}", {"action": "answer", **args}),
            "hitl": (f"{HITL}/respond", {"request_id": self.request, "response": given}),
            "inbox": (f"{inbox.INBOX}/requests/{self.request}/answer", {"value": given, "digest": self.digest}),
            "sessions": (
                "/agent/resume",
                {"user_id": self.user, "session_id": self.thread, "response_type": "response", "args": args},
            ),
            "agui": (
                "/api/v1/agui/puppet",
                {"threadId": self.thread, "runId": str(uuid.uuid4()), "messages": [], "resume": [entry]},
            ),
            "langgraph": (
                f"/threads/{self.thread}/runs/wait",
                {"assistant_id": "puppet", "command": {"resume": {self.interrupt: given}}},
            ),
        }


def run_volleys(sound: Stage, folder: Path, seed: int, rounds: int, shots: int) -> Figures:
    figures = Figures()
    for first in range(0, rounds, CHAPTER):
        history, chance = History(), random.Random(f"{seed} {sound.name} {first}")
        lane = Lane(sound, history, 0, chance, first)
        talk = lane.begin_session()
        for number in range(first, min(first + CHAPTER, rounds)):
            _volley(lane, talk, f"v{number}", shots)
        lane.end(talk)
        finish([lane], history, f"{seed}, {sound.name}, volleys from {first}", folder)
        figures.count(history)
        log.info("%s: %d of %d volleys", sound.name, min(first + CHAPTER, rounds), rounds)
    return figures


def _volley(lane: Lane, talk: Talk, mark: str, count: int) -> None:
    question = _ask(lane, talk, mark)
    lane.history.add(Asked(question.request, talk.thread, "question"))
    sent: list[Any] = []
    shots: list[Shot] = []
    for number in range(count):
        server, who = number % len(lane.stage.servers), lane.chance.choice([lane.name, ADMIN])
        word = f"{mark}-{number}"
        face, (path, body) = lane.chance.choice(list(question.shots([word]).items()))
        headers = {"authorization": _token(lane.stage, server, who), "idempotency-key": word}
        shots.append(Shot(lane.stage.servers[server].url, path, body, headers))
        sent.append(lane.history.begin(who, face, "answer", question.request, winner(who, word)))
    for call, outcome in zip(sent, race(shots), strict=True):
        call.came, call.told = _came_of(call.face, outcome)
        call.returned = lane.history.now()
    lane.look(question.request)


def _ask(lane: Lane, talk: Talk, mark: str) -> Question:
    """The last answer's run may still be under way."""
    message = script(calls(("ask_user", {"questions": [{"question": f"{mark}?", "options": []}]})))
    owner = lane.clients[0]
    wait_for(lambda: owner.chat(talk.thread, message), lambda reply: reply.status == 200)
    request = lane.pending(talk)
    assert request is not None
    shown = inbox.view(owner, request["request_id"])
    interrupts = owner.http.get(f"/threads/{talk.thread}").raise_for_status().json()["interrupts"]
    ((interrupt,),) = interrupts.values()
    return Question(lane.name, talk.thread, request["request_id"], shown["digest"], interrupt["id"])


def _token(stage: Stage, server: int, who: str) -> str:
    return stage.people[server].named(who).http.headers["authorization"]


def _came_of(face: str, outcome: Outcome) -> tuple[Any, str]:
    if face == "agui" and outcome.status == 200:
        return _came_of_run(outcome.text)
    if outcome.status == 200:
        return "accepted", ""
    if outcome.status >= 429:
        return "unknown", ""
    told: Mapping[str, Any] = outcome.body
    told = told["error"]["details"] if "error" in told else told
    return ("lost", winner_told(told)) if told.get("answered_at") else ("refused", "")


def _came_of_run(text: str) -> tuple[Any, str]:
    events = [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]
    for event in events:
        if event.get("name") == "interlock.already_answered":
            return "lost", winner_told(event["value"])
    return ("unknown" if any(one["type"] == "RUN_ERROR" for one in events) else "accepted"), ""
