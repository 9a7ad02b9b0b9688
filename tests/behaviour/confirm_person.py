"""A person at the confirm face. Each thing they do is a connection of its own, which drops when it is done."""

from collections.abc import Callable
from typing import Any

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents
from tests.behaviour.driver import Asked, Outcome, ThreadsPerson, response_to
from tests.support.confirm import ConfirmClient, Told, of, only
from tests.support.people import People
from tests.support.threads import ThreadsClient

ALL = 100
STOPS = (AgentEvents.FINAL_ANSWER, AgentEvents.USER_CONFIRM, AgentEvents.ERROR, AgentEvents.INTERRUPTED)


class ConfirmPerson:
    nowhere: tuple[Asked, ...] | None = None
    gone = "forbidden"
    repeats = False

    def __init__(self, people: People, client: ThreadsClient) -> None:
        self._people = people
        self._client = client
        self._threads = ThreadsPerson(people, client)
        self.name = client.username

    def begin(self) -> str:
        with of(self._client) as socket:
            return socket.create()

    def say(self, conversation: str, message: str) -> Outcome:
        with of(self._client) as socket:
            if self._come_back(socket, conversation) is None:
                return Outcome("forbidden")
            socket.say(message, conversation)
            return self._came_of(socket, self._handled(socket))

    def approve(self, conversation: str, asked: Asked | None = None) -> Outcome:
        return self._reply(conversation, asked, lambda _: {"confirmed": True})

    def refuse(self, conversation: str, reason: str = "", asked: Asked | None = None) -> Outcome:
        content = {"confirmed": False, **({"reason": reason} if reason else {})}
        return self._reply(conversation, asked, lambda _: content)

    def answer(self, conversation: str, *texts: Any, asked: Asked | None = None) -> Outcome:
        def content(one: Asked) -> dict[str, Any]:
            return {"confirmed": True, "metadata": {"response": response_to(one, texts)}}

        return self._reply(conversation, asked, content)

    def pending(self, conversation: str) -> tuple[Asked, ...] | None:
        with of(self._client) as socket:
            return self._come_back(socket, conversation)

    def history(self, conversation: str) -> list[tuple[str, str]]:
        return self._threads.history(conversation)

    def delete(self, conversation: str) -> bool:
        return self._threads.delete(conversation)

    def once_more(self) -> "ConfirmPerson":
        return ConfirmPerson(self._people, self._people.again(self.name))

    def _come_back(self, socket: ConfirmClient, conversation: str) -> tuple[Asked, ...] | None:
        """What is pending; None where it is not theirs to see."""
        back = socket.reconnect(conversation, batch_size=ALL)
        if back["event"] == SystemEvents.ERROR:
            assert back["metadata"]["error_type"] == ErrorTypes.SESSION_NOT_FOUND
            return None
        return _asked(self._handled(socket))

    def _handled(self, socket: ConfirmClient) -> list[Told]:
        """What was told until everything that was sent before is handled: the answer to a last message shows it."""
        socket.say(" ")
        told: list[Told] = []
        while True:
            told.append(socket.next())
            if told[-1]["metadata"].get("error_type") == ErrorTypes.EMPTY_MESSAGE:
                return told[:-1]

    def _reply(self, conversation: str, asked: Asked | None, content: Callable[[Asked], dict[str, Any]]) -> Outcome:
        with of(self._client) as socket:
            pending = self._come_back(socket, conversation)
            if pending is None:
                return Outcome("forbidden")
            meant = pending if asked is None else (asked,)
            assert meant, "nothing is pending, and nothing was named"
            for one in meant:
                socket.respond(one.id, content(one), conversation)
            told = self._handled(socket)
            left = tuple(one for one in pending if one not in meant)
            if left and not only(told, SystemEvents.ERROR):
                return Outcome("paused", asked=left)
            return self._came_of(socket, told)

    def _came_of(self, socket: ConfirmClient, told: list[Told]) -> Outcome:
        """What came of what was sent: refused at once, or what the agent did then until it stopped."""
        for one in told:
            if one["event"] == SystemEvents.ERROR or one["metadata"].get("error_type") == ErrorTypes.BUSY:
                return _refused(one)
        last = next((one for one in told if one["event"] in STOPS), None) or socket.wait_for(*STOPS)
        match last["event"]:
            case AgentEvents.FINAL_ANSWER:
                return Outcome("done", last["content"])
            case AgentEvents.USER_CONFIRM:
                more = self._handled(socket)
                first = told.index(last) if last in told else len(told)
                return Outcome("paused", asked=_asked([*told[first:], *([] if last in told else [last]), *more]))
            case _:
                return Outcome("failed", last["content"])


def _refused(error: Told) -> Outcome:
    metadata = error["metadata"]
    if metadata["error_type"] == ErrorTypes.BUSY or "status" in metadata:
        return Outcome("conflict", error["content"], told=metadata)
    states = {ErrorTypes.INVALID_MESSAGE: "invalid", ErrorTypes.INVALID_STEP_ID: "invalid"}
    return Outcome(states.get(metadata["error_type"], "forbidden"), error["content"], told=metadata)


def _asked(told: list[Told]) -> tuple[Asked, ...]:
    return tuple(
        Asked(one["step_id"], one["metadata"]["kind"], _data(one["metadata"]))
        for one in only(told, AgentEvents.USER_CONFIRM)
    )


def _data(metadata: dict[str, Any]) -> dict[str, Any]:
    return metadata.get("request") or {"tool_name": metadata["tool_name"], "args": metadata["tool_args"]}
