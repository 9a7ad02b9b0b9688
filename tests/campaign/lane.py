"""One person with one conversation after the other, at all faces, through whatever happens to the servers."""

import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from tests.behaviour.driver import FACES
from tests.campaign import chores
from tests.campaign.follower import Follower
from tests.campaign.history import Asked, History, Purpose
from tests.campaign.log_model import AT_REST
from tests.campaign.reading import logged, read_logs
from tests.campaign.stage import ADMIN, Stage
from tests.campaign.voice import APPROVE, REFUSE, Voice, winner_told
from tests.support import sessions
from tests.support.hitl import HITL, data_of
from tests.support.puppet import Turn, calls, says, script, slowly
from tests.support.threads import ThreadsClient

T = TypeVar("T")

TALK_SECONDS = 300.0
AGAIN_SECONDS = 0.1
CHORES = 0.3
"""Of conversations are followed by something that people do seldom."""
MARK = re.compile(r"\[([a-z]+\.[\d.]+\d)\]")
_CALLED = re.compile(r"\be\.[\d.]+\d")
_WORDS_IN_DOUBT = ("retry", "skip", "done")


@dataclass
class Talk:
    """One conversation: `conversation` is what the face calls it that it is held at."""

    thread: str
    conversation: str
    face: str
    followers: list[Follower]
    effects: list[str] = field(default_factory=list[str])
    last: str = ""
    """The mark of the last thing that was said in it."""
    status: str = "running"


class Lane:
    def __init__(self, stage: Stage, history: History, number: int, chance: random.Random, chapter: int = 0) -> None:
        self.stage, self.history, self.chance = stage, history, chance
        self.name = name_of(number)
        self.stopping = threading.Event()
        self.talks: list[Talk] = []
        self._number = f"{chapter}.{number}"
        self._count = 0
        self._session_thread = self._open_session()
        self._session: Talk | None = None

    def live(self) -> None:
        while not self.stopping.is_set():
            self.talk()
            if self.chance.random() < CHORES:
                chores.do(self.patient, self.stage.people[0].named(ADMIN), self.chance)

    def patient(self, act: Callable[[ThreadsClient], T], seconds: float = TALK_SECONDS) -> T:
        """What the person's program does until a server answers."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return act(self.any_client())
            except httpx.HTTPError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(AGAIN_SECONDS)

    @property
    def clients(self) -> list[ThreadsClient]:
        return [people.named(self.name) for people in self.stage.people]

    def any_client(self) -> ThreadsClient:
        return self.chance.choice(self.clients)

    def requests(self, talk: Talk) -> set[str]:
        return {one.request for one in self.history.asked if one.thread == talk.thread}

    def look(self, request: str) -> str:
        """What counts, or `pending`."""
        with self.history.calling(self.name, "hitl", "look", request) as call:
            reply = self.patient(lambda client: client.http.get(f"{HITL}/requests/{request}").raise_for_status())
            seen = data_of(reply)
            call.told = "pending" if seen["status"] == "pending" else winner_told(seen)
            call.came = "accepted"
        return call.told

    def begin_session(self) -> Talk:
        self._session = self._session or self._begun(self._session_thread, self.name, "sessions")
        return self._session

    def end(self, talk: Talk) -> None:
        """Settle what is asked there, and say one thing more."""
        self._hold(talk, is_said=True)

    def _open_session(self) -> str:
        """At the sessions face a person has one session, for all that they say."""
        user = sessions.of(self.stage.people[0].named(self.name))
        user.invoke(says("hello"))
        user.close()
        return user.session_id

    def _begun(self, thread: str, conversation: str, face: str) -> Talk:
        followers = [
            Follower(self.history, self.clients, face, thread, random.Random(self.chance.random()))
            for face in ("threads", "hitl")
        ]
        talk = Talk(thread, conversation, face, followers)
        self.talks.append(talk)
        return talk

    def talk(self) -> None:
        self._count += 1
        face = self.chance.choice(list(FACES))
        if face == "sessions":
            talk = self.begin_session()
        else:
            thread = self.patient(lambda client: client.new_thread())
            talk = self._begun(thread, thread, face)
        self._hold(talk)
        if talk is not self._session and talk.status == AT_REST:
            self._release(talk)

    def _release(self, talk: Talk) -> None:
        """Nothing more is said here: who follows it may go once they have seen all."""
        logs = logged(read_logs(self.any_client, talk.thread, talk.last, self.requests(talk)))
        for follower in talk.followers:
            follower.end_at(logs[follower.face])

    def _hold(self, talk: Talk, *, is_said: bool = False) -> None:
        """Say a thing until it is taken, settle all that is asked, and say another thing that ends it."""
        deadline = time.monotonic() + TALK_SECONDS
        attempt = 0
        while time.monotonic() < deadline:
            if request := self.pending(talk):
                self._settle(talk, request)
                continue
            attempt += 1
            mark = f"{'fin' if is_said else 'e'}.{self._number}.{self._count}.{attempt}"
            if self.says(talk, mark):
                if is_said:
                    talk.last, talk.status = mark, AT_REST
                    return
                is_said = True
            else:
                time.sleep(AGAIN_SECONDS)
        talk.status = f"not at rest after {TALK_SECONDS} s"

    def says(self, talk: Talk, mark: str) -> bool:
        """Whether it was taken, as far as anybody can tell by now."""
        is_last = mark.startswith("fin")
        turns = [says(f"[{mark}]")] if is_last else self._turns(talk, mark)
        people = self.chance.choice(self.stage.people)
        voice = Voice(self.history, people, self.name, "threads" if is_last else talk.face)
        conversation = talk.thread if is_last else talk.conversation
        call = voice.say(conversation, talk.thread, script(*turns), mark)
        if call.came == "unknown" and not is_last:
            return mark in self.said(talk)
        return call.came == "accepted"

    def said(self, talk: Talk) -> list[str]:
        history = self.patient(lambda client: client.history(talk.thread))
        found = [MARK.search(one["content"]) for one in history if one["role"] == "user"]
        return [match[1] for match in found if match]

    def _turns(self, talk: Talk, mark: str) -> list[Turn]:
        talk.effects.append(mark)
        guarded = calls(("guarded", {"name": mark}), say=[f"[{mark}] ", slowly("let me see", 0.01)])
        question = calls(("ask_user", {"questions": [{"question": "Why?", "options": []}]}), say=[f"[{mark}]"])
        return self.chance.choice([[guarded], [guarded, question], [question, guarded], [question]])

    def pending(self, talk: Talk) -> dict[str, Any] | None:
        def look(client: ThreadsClient) -> list[dict[str, Any]]:
            reply = client.http.get(f"{HITL}/conversations/{talk.thread}/pending").raise_for_status()
            return data_of(reply)["pending_requests"]

        return next(iter(self.patient(look)), None)

    def _settle(self, talk: Talk, request: Mapping[str, Any]) -> None:
        """Several people answer at once, each at the face where they saw it."""
        request_id, purpose = request["request_id"], _purpose(request)
        called = _CALLED.search(str(request["request_data"]))
        effect = called[0] if called and purpose != "question" else ""
        self.history.add(Asked(request_id, talk.thread, purpose, effect))
        voices = [self._voice(talk) for _ in range(self.chance.randint(1, 3))]
        words = [self._word(purpose, number) for number in range(len(voices))]
        with ThreadPoolExecutor(len(voices)) as pool:
            looks = [pool.submit(voice.sees, self._place(talk, voice)) for voice in voices]
            seen = [look.result() for look in looks]
            if self.look(request_id) != "pending":
                return
            ready = [(voice, one, word) for voice, one, word in zip(voices, seen, words, strict=True) if one]
            for voice, asked, word in ready:
                pool.submit(voice.answer, self._place(talk, voice), request_id, asked, word)
        self.look(request_id)

    def _voice(self, talk: Talk) -> Voice:
        faces = [face for face in FACES if face != "sessions" or talk is self._session]
        name = self.chance.choice([self.name, ADMIN])
        return Voice(self.history, self.chance.choice(self.stage.people), name, self.chance.choice(faces))

    def _place(self, talk: Talk, voice: Voice) -> str:
        return talk.conversation if voice.face == "sessions" else talk.thread

    def _word(self, purpose: Purpose, number: int) -> str:
        """Only the first one of several may say yes: what the others say is theirs alone."""
        mark = f"w{self._number}-{self.chance.randrange(10**9)}"
        if purpose == "doubt":
            return self.chance.choice(_WORDS_IN_DOUBT)
        if purpose == "question":
            return mark
        return APPROVE if number == 0 and self.chance.random() < 0.8 else f"{REFUSE} {mark}"


def name_of(number: int) -> str:
    return f"lane-{number}"


def _purpose(request: Mapping[str, Any]) -> Purpose:
    if request["request_data"].get("decision_type") == "effect_in_doubt":
        return "doubt"
    return "approval" if request["type"] == "permission" else "question"
