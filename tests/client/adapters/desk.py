"""A person at the other end: sees what an agent asks, and answers it over HTTP."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, TypeVar

from interlock_client import Interlock
from tests.support.hitl import HitlClient
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

T = TypeVar("T")

YES: dict[str, Any] = {"granted": True}
_numbers = count(1)


class Desk:
    def __init__(self, person: HitlClient) -> None:
        self.person = person
        self.url = str(person.http.base_url)
        made = person.new_key(f"worker-{next(_numbers)}", "agent")
        self._agent = made["name"]
        self.client = Interlock(self.url, key=made["key"])

    def pending(self) -> list[dict[str, Any]]:
        return self.person.everything(agent=self._agent)["pending_requests"]

    def comes(self, number: int = 1) -> list[dict[str, Any]]:
        """What is asked, once so much is."""
        return wait_for(self.pending, lambda found: len(found) == number)

    def answer(self, answers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Answer by the name of the tool, once all are asked; what was shown, by that name."""
        asked = {one["request_data"]["tool_name"]: one for one in self.comes(len(answers))}
        for name, response in answers.items():
            self.person.respond(asked[name]["request_id"], response)
        return {name: one["request_data"] for name, one in asked.items()}

    async def meanwhile(self, running: Awaitable[T], *rounds: Mapping[str, Any]) -> tuple[T, list[dict[str, Any]]]:
        """What runs, while somebody answers round after round; what came of it, and what was shown."""

        def answer() -> list[dict[str, Any]]:
            return [self.answer(answers) for answers in rounds]

        result, shown = await asyncio.gather(running, asyncio.to_thread(answer))
        return result, shown


@asynccontextmanager
async def open_desk(person: HitlClient) -> AsyncGenerator[Desk]:
    desk = Desk(person)
    async with desk.client:
        yield desk


class FrailServer(ServerProcess):
    """A server that a test may kill, and that comes back at the same address."""

    def restart(self) -> None:
        self.kill()
        self.port = int(self.url.rpartition(":")[2])
        self.start()
