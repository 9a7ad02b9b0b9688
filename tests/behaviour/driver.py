"""A person at a face, in the words that all faces share: cases speak to this, and each face has its driver."""

import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import httpx

from tests.support.hitl import HITL
from tests.support.people import People
from tests.support.threads import Frame, Reply, ThreadsClient, bounded, parse
from tests.support.waiting import wait_for
from tests.support.wire import own_connection, until


@dataclass(frozen=True)
class Asked:
    """One thing that is asked of a person."""

    id: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of something that a person sent."""

    state: str
    """done, paused, failed, invalid (a reply that does not fit), conflict (it came too late or too early), forbidden,
    gone (where a face tells that apart)"""
    text: str = ""
    asked: tuple[Asked, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """With a conflict: who settled it, when and with what."""


class Person(Protocol):
    name: str
    nowhere: tuple[Asked, ...] | None
    """What the face says is pending in a conversation that does not exist."""
    gone: str
    """And what becomes of a reply to it."""
    repeats: bool
    """Whether the same reply again gets what came of the first one; else it is a conflict."""

    def begin(self) -> str:
        """A new conversation with the default agent."""
        ...

    def say(self, conversation: str, message: str) -> Outcome: ...

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        """Let happen what is asked; `asked` names what is meant."""
        ...

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome: ...

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        """One text for each thing that is wanted: a question, a choice, a variable; a free interrupt takes any JSON."""
        ...

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        """What the conversation waits for; None where it is not this person's to see."""
        ...

    def history(self, conversation: str) -> list[tuple[str, str]]: ...

    def delete(self, conversation: str) -> bool: ...

    def once_more(self) -> "Person":
        """The same person on a connection of their own, for doing several things at once."""
        ...


class ThreadsPerson:
    """At the threads face."""

    nowhere: tuple[Asked, ...] | None = None
    gone = "forbidden"
    repeats = False

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self.name = client.username

    def begin(self) -> str:
        return self._client.new_thread()

    def say(self, conversation: str, message: str) -> Outcome:
        return _outcome(self._client.chat(conversation, message))

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        return self._resume(conversation, "continue", asked)

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        return self._resume(conversation, "cancel", asked, **({"reason": reason} if reason else {}))

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        return self._resume(conversation, "answer", asked, answers=list(texts))

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        reply = self._client.http.get(f"/api/status/{conversation}")
        if reply.status_code == 403:
            return None
        info = reply.raise_for_status().json()["interrupt_info"]
        return _asked(info["requests"]) if info else ()

    def history(self, conversation: str) -> list[tuple[str, str]]:
        return [(message["role"], message["content"]) for message in self._client.history(conversation)]

    def delete(self, conversation: str) -> bool:
        return self._client.http.delete(f"/api/sessions/{conversation}").status_code == 200

    def once_more(self) -> "ThreadsPerson":
        return ThreadsPerson(self._people, self._people.again(self.name))

    def _resume(self, conversation: str, action: str, asked: Asked | None, **fields: Any) -> Outcome:
        named = {"request_id": asked.id} if asked else {}
        return _outcome(self._client.resume(conversation, action, **named, **fields))


def _asked(requests: list[dict[str, Any]]) -> tuple[Asked, ...]:
    return tuple(Asked(one["request_id"], one["kind"], one["request_data"]) for one in requests)


def _outcome(reply: Reply) -> Outcome:
    if reply.status != 200:
        return Outcome({400: "invalid", 403: "forbidden", 409: "conflict"}[reply.status], told=reply.body)
    assert reply.events[-1] == "end"
    if "interrupt" in reply.events:
        return Outcome("paused", reply.text, _asked(reply.first("interrupt")["requests"]))
    if "error" in reply.events:
        invalid = reply.frames[-1].data.get("action") == "error"
        return Outcome("invalid" if invalid else "failed", reply.first("error")["message"])
    return Outcome("done", reply.text)


class HitlPerson:
    """At the hitl face. Conversations are begun, and messages sent, on the threads face: this one cannot."""

    nowhere: tuple[Asked, ...] | None = ()
    gone = "gone"
    repeats = False

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self._threads = ThreadsPerson(people, client)
        self.name = client.username

    def begin(self) -> str:
        return self._threads.begin()

    def say(self, conversation: str, message: str) -> Outcome:
        return self._in_own_words(conversation, self._threads.say(conversation, message))

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        return self._reply(conversation, asked, lambda _: {"response": {"granted": True}})

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        reasons = {"reason": reason} if reason else {}

        def refusal(one: Asked) -> dict[str, Any]:
            return {"response": {"granted": False, **reasons}} if one.kind == "approval" else reasons

        return self._reply(conversation, asked, refusal)

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        return self._reply(conversation, asked, lambda one: {"response": response_to(one, texts)})

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        reply = self._client.http.get(f"{HITL}/conversations/{conversation}/pending")
        if reply.status_code == 403:
            return None
        found = reply.raise_for_status().json()["data"]["pending_requests"]
        return tuple(Asked(one["request_id"], _kind(one), one["request_data"]) for one in found)

    def history(self, conversation: str) -> list[tuple[str, str]]:
        return self._threads.history(conversation)

    def delete(self, conversation: str) -> bool:
        return self._threads.delete(conversation)

    def once_more(self) -> "HitlPerson":
        return HitlPerson(self._people, self._people.again(self.name))

    def _reply(self, conversation: str, asked: Asked | None, body: Callable[[Asked], dict[str, Any]]) -> Outcome:
        """Reply to what is named, or to everything that is pending; without a response it is cancelled."""
        pending = self.pending(conversation) or ()
        meant = pending if asked is None else (asked,)
        assert meant, "nothing is pending, and nothing was named"
        with self._watching(conversation) as frames:
            for one in meant:
                fields = {"request_id": one.id, **body(one)}
                path = "respond" if "response" in fields else "cancel"
                reply = self._client.http.post(f"{HITL}/{path}", json=fields)
                if reply.status_code != 200:
                    return self._refused(one, reply)
            # By their ids: one that was seen on another face is described in that face's words.
            if left := tuple(one for one in pending if one.id not in {replied.id for replied in meant}):
                return Outcome("paused", asked=left)
            return self._in_own_words(conversation, _outcome(Reply(200, until(frames, "end"))))

    @contextmanager
    def _watching(self, conversation: str) -> Generator[Iterator[Frame]]:
        """What happens from now on, for who may see it."""
        with own_connection(self._client) as http, http.stream("GET", f"/api/stream/{conversation}") as response:
            yield parse(bounded(response.iter_lines()))

    def _refused(self, asked: Asked, reply: httpx.Response) -> Outcome:
        error = reply.json()["error"]
        if error["code"] not in ("HITL_REQUEST_NOT_PENDING", "HITL_REQUEST_EXPIRED"):
            return Outcome({400: "invalid", 403: "forbidden", 404: "gone"}[reply.status_code], error["message"])
        look = self._client.http.get(f"{HITL}/requests/{asked.id}").raise_for_status().json()["data"]
        details = error["details"]
        assert {name: look[name] for name in ("answered_by", "answered_at", "source")}.items() <= details.items(), (
            look,
            details,
        )
        return Outcome("conflict", error["message"], told=details | {"answer": _answer(look)})

    def _in_own_words(self, conversation: str, outcome: Outcome) -> Outcome:
        if outcome.state != "paused":
            return outcome
        pending = self.pending(conversation)
        if not pending:
            # Some have a fraction of a second.
            ended = [self._client.http.get(f"{HITL}/requests/{one.id}").json()["data"] for one in outcome.asked]
            assert {one["status"] for one in ended} == {"expired"}
            return outcome
        assert [one.id for one in pending] == [one.id for one in outcome.asked]
        return replace(outcome, asked=pending)


def _kind(request: Mapping[str, Any]) -> str:
    if "questions" in request["request_data"]:
        return "questions"
    return "approval" if request["type"] == "permission" else request["type"]


def response_to(asked: Asked, texts: tuple[Any, ...]) -> dict[str, Any]:
    match asked.kind:
        case "clarification":
            return {"answer": texts[0]}
        case "decision":
            return {"decision": texts[0]}
        case "env_var":
            return {"values": {each["name"]: text for each, text in zip(asked.data["fields"], texts, strict=False)}}
        case _:
            return {"answers": list(texts)}


def _answer(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was answered, with the decision of an approval in the words that the faces share."""
    response = request["response"]
    if response is None or "granted" not in response:
        return response
    return {"decision": "accept" if response["granted"] else "reject", **response}


class SessionsPerson:
    """At the sessions face, where a user has one session: a new conversation is a new user's, and has their name."""

    nowhere: tuple[Asked, ...] | None = None
    gone = "gone"
    repeats = False

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self.name = client.username

    def begin(self) -> str:
        self._client = self._people.named(f"{self.name.partition('.')[0]}.{uuid.uuid4().hex[:12]}")
        self.name = self._client.username
        return self.name

    def say(self, conversation: str, message: str) -> Outcome:
        body = {"user_id": conversation, "query": message, "system_message": None}
        return self._outcome(self._client.http.post("/agent/invoke", json=body))

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        return self._resume(conversation, "accept", asked, {})

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        pending = self.pending(conversation) or ()
        questions = [one for one in pending if one.kind != "approval"]
        if not questions:
            return self._resume(conversation, "reject", asked, {"reason": reason} if reason else {})
        # A question can only be answered here; it is cancelled on another face.
        for one in questions:
            self._client.http.post(f"{HITL}/cancel", json={"request_id": one.id}).raise_for_status()
        status = wait_for(lambda: self._status(conversation), lambda seen: seen["status"] != "running")
        return _came_of(status["last_response"])

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        meant = asked or next(iter(self.pending(conversation) or ()))
        args = response_to(meant, texts)
        return self._resume(
            conversation, "response", asked, {"args": args["decision"]} if meant.kind == "decision" else args
        )

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        status = self._status(conversation)
        if status["status"] == "not_found":
            return None
        response = status["last_response"]
        return _came_of(response).asked if response else ()

    def history(self, conversation: str) -> list[tuple[str, str]]:
        status = self._status(conversation)
        if status["status"] != "completed":
            return [("user", status["last_query"])]
        messages: list[dict[str, Any]] = status["last_response"]["result"]["messages"]
        return [(message["role"], message["content"]) for message in messages if message["content"]]

    def delete(self, conversation: str) -> bool:
        return self._client.http.delete(f"/agent/session/{conversation}").status_code == 200

    def once_more(self) -> "SessionsPerson":
        return SessionsPerson(self._people, self._people.again(self.name))

    def _status(self, conversation: str) -> dict[str, Any]:
        reply = self._client.http.get(f"/agent/status/{conversation}")
        if reply.status_code == 403:
            return {"status": "not_found", "session_id": None}
        return reply.raise_for_status().json()

    def _resume(self, conversation: str, how: str, asked: Asked | None, args: dict[str, Any]) -> Outcome:
        named = {"request_id": asked.id} if asked else {}
        session_id = self._status(conversation)["session_id"] or "none"
        body = {"user_id": conversation, "session_id": session_id, "response_type": how, "args": {**args, **named}}
        return self._outcome(self._client.http.post("/agent/resume", json=body))

    def _outcome(self, reply: httpx.Response) -> Outcome:
        if reply.status_code == 200:
            return _came_of(reply.json())
        states = {400: "invalid", 403: "forbidden", 404: "gone", 409: "conflict"}
        return Outcome(states[reply.status_code], reply.json()["detail"], told=reply.json())


def _came_of(response: Mapping[str, Any]) -> Outcome:
    match response["status"]:
        case "interrupted":
            requests = response["interrupt_data"]["requests"]
            return Outcome(
                "paused",
                asked=tuple(Asked(one["request_id"], one["interrupt_type"], one["request_data"]) for one in requests),
            )
        case "completed":
            return Outcome("done", response["result"]["output"])
        case _:
            return Outcome("failed", response["message"])


def at_threads(people: People, name: str) -> Person:
    return ThreadsPerson(people, people.named(name))


def at_hitl(people: People, name: str) -> Person:
    return HitlPerson(people, people.named(name))


def at_sessions(people: People, name: str) -> Person:
    return SessionsPerson(people, people.named(name))


def at_confirm(people: People, name: str) -> Person:
    from tests.behaviour.confirm_person import ConfirmPerson

    return ConfirmPerson(people, people.named(name))


def at_agui(people: People, name: str) -> Person:
    from tests.behaviour.agui_person import AguiPerson

    return AguiPerson(people, people.named(name))


def at_langgraph(people: People, name: str) -> Person:
    from tests.behaviour.langgraph_person import LanggraphPerson

    return LanggraphPerson(people, people.named(name))


FACES: Mapping[str, Callable[[People, str], Person]] = {
    "threads": at_threads,
    "hitl": at_hitl,
    "sessions": at_sessions,
    "confirm": at_confirm,
    "agui": at_agui,
    "langgraph": at_langgraph,
}
"""Every front door, by its name. A new face adds its driver here, and every case runs through it."""
