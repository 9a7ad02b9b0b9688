"""A person at a face, in the words that all faces share: cases speak to this, and each face has its driver."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.people import People
from tests.support.threads import Reply, ThreadsClient


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
    """done, paused, failed, invalid (a reply that does not fit), conflict (it came too late or too early), forbidden"""
    text: str = ""
    asked: tuple[Asked, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """With a conflict: who settled it, when and with what."""


class Person(Protocol):
    name: str

    def begin(self) -> str:
        """A new conversation with the default agent."""
        ...

    def say(self, conversation: str, message: str) -> Outcome: ...

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        """Let happen what is asked; `asked` names what is meant."""
        ...

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome: ...

    def answer(self, conversation: str, *texts: str, asked: Asked | None = None) -> Outcome:
        """One text for each thing that is wanted: a question, a choice, a variable."""
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

    def answer(self, conversation: str, *texts: str, asked: Asked | None = None) -> Outcome:
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


def at_threads(people: People, name: str) -> Person:
    return ThreadsPerson(people, people.named(name))


FACES: Mapping[str, Callable[[People, str], Person]] = {"threads": at_threads}
"""Every front door, by its name. A new face adds its driver here, and every case runs through it."""
