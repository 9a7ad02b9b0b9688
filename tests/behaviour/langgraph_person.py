"""A person at the langgraph face. What it cannot do, such as cancelling a free interrupt, they do at the hitl face."""

from collections.abc import Callable
from typing import Any

import httpx

from tests.behaviour.driver import Asked, HitlPerson, Outcome, response_to
from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.threads import ThreadsClient

AGENT = "puppet"
STATES = {404: "forbidden", 409: "conflict", 422: "invalid"}
ROLES = {"human": "user", "ai": "assistant"}


class LanggraphPerson:
    nowhere: tuple[Asked, ...] | None = None
    # What is not there and what is another's are the same here.
    gone = "forbidden"
    repeats = True

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self._face = LanggraphClient("", http=client.http)
        self._hitl = HitlPerson(people, client)
        self.name = client.username

    def begin(self) -> str:
        return self._face.thread()

    def say(self, conversation: str, message: str) -> Outcome:
        given = {"messages": [{"type": "human", "content": message}]}
        # Without it the message would take the place of what is asked.
        return self._run(conversation, input=given, multitask_strategy="reject")

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        return self._resume(conversation, asked, lambda _: _decisions("approve"))

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        if any("value" in one.data for one in self._meant(conversation, asked)):
            return self._hitl.refuse(conversation, reason)

        def refusal(one: Asked) -> Any:
            return _decisions("reject", message=reason) if one.kind == "approval" else [{"type": "ignore"}]

        return self._resume(conversation, asked, refusal)

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        return self._resume(
            conversation, asked, lambda one: _as_sent(texts[0]) if "value" in one.data else response_to(one, texts)
        )

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        reply = self._face.http.get(f"/threads/{conversation}")
        if reply.status_code == 404:
            return None
        by_task = reply.raise_for_status().json()["interrupts"]
        return self._asked(conversation, [one for listed in by_task.values() for one in listed])

    def history(self, conversation: str) -> list[tuple[str, str]]:
        messages = self._face.state(conversation)["values"]["messages"]
        return [(str(ROLES.get(one["type"], one["type"])), str(one["content"])) for one in messages if one["content"]]

    def delete(self, conversation: str) -> bool:
        return self._face.http.delete(f"/threads/{conversation}").status_code == 204

    def once_more(self) -> "LanggraphPerson":
        return LanggraphPerson(self._people, self._people.again(self.name))

    def _meant(self, conversation: str, asked: Asked | None) -> tuple[Asked, ...]:
        return (self.pending(conversation) or ()) if asked is None else (asked,)

    def _resume(self, conversation: str, asked: Asked | None, value: Callable[[Asked], Any]) -> Outcome:
        """By their ids, all at once."""
        answers = {one.id: value(one) for one in self._meant(conversation, asked)}
        return self._run(conversation, command={"resume": answers})

    def _run(self, conversation: str, **body: Any) -> Outcome:
        reply = self._face.post(conversation, "wait", {"assistant_id": AGENT, **body})
        return self._outcome(conversation, reply)

    def _outcome(self, conversation: str, reply: httpx.Response) -> Outcome:
        said = reply.json()
        if reply.status_code != 200:
            return Outcome(STATES[reply.status_code], said["detail"], told=said)
        if error := said.get("__error__"):
            return Outcome("failed", error["message"])
        if interrupts := said.get("__interrupt__"):
            return Outcome("paused", asked=self._asked(conversation, interrupts))
        return Outcome("done", said["messages"][-1]["content"])

    def _asked(self, conversation: str, interrupts: list[dict[str, Any]]) -> tuple[Asked, ...]:
        return tuple(self._one(conversation, one["id"], one["value"]) for one in interrupts)

    def _one(self, conversation: str, name: str, value: Any) -> Asked:
        match value:
            case {"action_requests": [action]}:
                return Asked(name, "approval", action)
            case [{"action_request": {"action": kind, "args": args}}]:
                return Asked(name, kind, args)
            case _:
                # The value is all that this face shows; what it is read as comes from the other one.
                read = next(iter(self._hitl.pending(conversation) or ()))
                assert read.data["value"] == value
                return Asked(name, read.kind, read.data)


def _decisions(kind: str, **more: Any) -> dict[str, Any]:
    return {"decisions": [{"type": kind, **more}]}


def _as_sent(answer: Any) -> Any:
    """Other faces name a text that could be misread, and JSON that could be: here everything is what it is."""
    match answer:
        case {"text": value, **others} if not others:
            return value
        case {"json": value, **others} if not others:
            return value
        case _:
            return answer
