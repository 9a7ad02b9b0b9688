"""A person at the agui face. What it cannot do, such as answering one of several, they do at the hitl face."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.behaviour.driver import Asked, HitlPerson, Outcome, response_to
from tests.support.agui import AguiClient, Stream, user
from tests.support.people import People
from tests.support.threads import ThreadsClient

STATES = {
    "INVALID_RESUME": "invalid",
    "NO_SUCH_INTERRUPT": "gone",
    "INTERRUPTS_PENDING": "conflict",
    "RUN_ACTIVE": "conflict",
}


class AguiPerson:
    nowhere: tuple[Asked, ...] | None = ()
    gone = "gone"
    repeats = True

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self._hitl = HitlPerson(people, client)
        self._seen: dict[str, tuple[Asked, ...]] = {}
        self.name = client.username

    def begin(self) -> str:
        return self._hitl.begin()

    def say(self, conversation: str, message: str) -> Outcome:
        return self._run(conversation, messages=[user(message)])

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        if asked is None and self._has_others(conversation, "approval"):
            return self._hitl.approve(conversation)
        return self._reply(conversation, asked, self._hitl.approve, lambda _: {"approved": True})

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        reasons = {"reason": reason} if reason else {}

        def refusal(one: Asked) -> Any:
            return {"approved": False, **reasons} if one.kind == "approval" else None

        def elsewhere(conversation: str, asked: Asked) -> Outcome:
            return self._hitl.refuse(conversation, reason, asked)

        return self._reply(conversation, asked, elsewhere, refusal)

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        meant = asked or next(iter(self._open(conversation)), None)
        assert meant is not None
        if meant.kind == "env_var":
            return self._hitl.answer(conversation, *texts, asked=meant)
        return self._reply(
            conversation,
            meant,
            lambda conversation, asked: self._hitl.answer(conversation, *texts, asked=asked),
            lambda one: response_to(one, texts),
        )

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        outcome = self._run(conversation)
        return None if outcome.state == "forbidden" else outcome.asked

    def history(self, conversation: str) -> list[tuple[str, str]]:
        [snapshot] = self._at(conversation).run().all("MESSAGES_SNAPSHOT")
        return [(message["role"], message["content"]) for message in snapshot["messages"] if message["content"]]

    def delete(self, conversation: str) -> bool:
        return self._hitl.delete(conversation)

    def once_more(self) -> "AguiPerson":
        again = AguiPerson(self._people, self._people.again(self.name))
        again._seen = dict(self._seen)
        return again

    def _at(self, conversation: str) -> AguiClient:
        return AguiClient.of(self._client, thread_id=conversation)

    def _open(self, conversation: str) -> tuple[Asked, ...]:
        return self.pending(conversation) or self._seen.get(conversation, ())

    def _has_others(self, conversation: str, kind: str) -> bool:
        return any(one.kind != kind for one in self._open(conversation))

    def _reply(
        self,
        conversation: str,
        asked: Asked | None,
        elsewhere: Callable[[str, Asked], Outcome],
        payload: Callable[[Asked], Any],
    ) -> Outcome:
        """To what is named, or to everything that was seen open; one without a payload is cancelled."""
        if asked is not None and len(self.pending(conversation) or ()) > 1:
            return elsewhere(conversation, asked)
        meant = self._open(conversation) if asked is None else (asked,)
        return self._run(conversation, resume=[_entry(one, payload(one)) for one in meant])

    def _run(self, conversation: str, **fields: Any) -> Outcome:
        reply = self._at(conversation).post(**fields)
        return Outcome("forbidden") if reply.status_code == 403 else self._outcome(conversation, Stream.of(reply))

    def _outcome(self, conversation: str, stream: Stream) -> Outcome:
        for told in stream.all("CUSTOM"):
            if told["name"] == "interlock.already_answered":
                value: dict[str, Any] = told["value"]
                return Outcome("conflict", told=value | {"answer": value.get("response")})
        if errors := stream.all("RUN_ERROR"):
            return Outcome(STATES.get(errors[0]["code"], "failed"), errors[0]["message"])
        if stream.outcome["type"] != "interrupt":
            return Outcome("done", stream.text)
        self._seen[conversation] = tuple(_asked(one) for one in stream.interrupts)
        return Outcome("paused", stream.text, self._seen[conversation])


def _entry(asked: Asked, payload: Any) -> dict[str, Any]:
    if payload is None:
        return {"interruptId": asked.id, "status": "cancelled"}
    return {"interruptId": asked.id, "status": "resolved", "payload": payload}


def _asked(interrupt: Mapping[str, Any]) -> Asked:
    request = interrupt["metadata"]["interlock"]
    return Asked(interrupt["id"], request["kind"], request["body"])
