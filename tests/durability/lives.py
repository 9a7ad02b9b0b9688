"""A server that dies and starts again on the same data, and the conversations that go on through all of its lives."""

import re
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.support.server import ServerProcess
from tests.support.threads import Frame, Reply, ThreadsClient
from tests.support.witness import Witness

HERE = Path(__file__).parent
TOOLS = f"tools={HERE / 'agents.py'}:tools"
_NAMES = ("deploy", "one_node", "two_nodes", "hurried", "lingering")
GRAPHS = tuple(f"{name}={HERE / 'graphs.py'}:{name}" for name in _NAMES)
LEASE_SECONDS = "3"
STREAM_SECONDS = 14.0
"""Less than the time after which a silent stream shows a sign of life, so that waiting for a frame is bounded."""
REPLY_SECONDS = 120.0

_numbers = count(1)


@dataclass
class Lives:
    """One database, one server on it at a time, and a bystander: a thread that waits for a person all along."""

    server: ServerProcess
    witness: Witness
    _person: ThreadsClient | None = None
    _bystander: "Talk | None" = None

    def start(self, failpoints: str = "") -> None:
        self.server.start(failpoints=failpoints)
        if self._bystander is not None:
            assert self._bystander.pending()["request_id"] == self._bystander.request_id

    def start_alive(self, failpoints: str) -> bool:
        """Start; False when it died of what it found to do before it was ready."""
        try:
            self.server.start(failpoints=failpoints)
        except AssertionError:
            self.server.wait_until_dead(0)
            return False
        return True

    def start_and_die(self, failpoints: str) -> None:
        """A life that ends by what it finds to do, perhaps before it is ready."""
        if self.start_alive(failpoints):
            self.server.wait_until_dead()

    @property
    def person(self) -> ThreadsClient:
        """At the server's address in this life."""
        if self._person is None or str(self._person.http.base_url).rstrip("/") != self.server.url:
            self.close()
            self._person = self.somebody()
        return self._person

    def somebody(self) -> ThreadsClient:
        client = ThreadsClient(self.server.url)
        client.http.timeout = STREAM_SECONDS
        return client

    def leave_bystander(self, agent: str, verb: str = "") -> None:
        self._bystander = Talk(self, agent, verb)
        self._bystander.is_asked()

    def answer_bystander(self) -> None:
        assert self._bystander is not None
        bystander, self._bystander = self._bystander, None
        assert bystander.effects == 0
        bystander.approve()
        bystander.finishes(runs=2)

    @contextmanager
    def dying(self) -> Generator[None]:
        """The server is to die during the block, by a failpoint."""
        with suppress(httpx.TransportError):
            yield
        self.server.wait_until_dead()

    def kill_when_told(self, path: str, body: dict[str, Any]) -> None:
        """`kill -9` as soon as a 2xx is there."""
        with suppress(httpx.TransportError), self.person.http.stream("POST", path, json=body) as response:
            assert response.status_code == 200
            self.server.kill()

    def wait_for_log(self, pattern: str) -> None:
        """Wait until the server has written a line that matches."""
        self.person.wait_for(self.server.log.read_text, lambda text: re.search(pattern, text) is not None)

    def close(self) -> None:
        if self._person is not None:
            self._person.http.close()
            self._person = None


@dataclass
class Talk:
    """One conversation about one effect, named so that the witness can tell it from all others."""

    lives: Lives
    agent: str
    verb: str = ""
    request_id: str = ""
    name: str = field(default_factory=lambda: f"e{next(_numbers)}.")
    thread_id: str = ""

    def __post_init__(self) -> None:
        self.thread_id = self.person.new_thread(self.agent)

    @property
    def person(self) -> ThreadsClient:
        return self.lives.person

    @property
    def message(self) -> str:
        return f"{self.verb} {self.name}".strip()

    @property
    def effects(self) -> int:
        """How often the effect took place; what an idempotent one did under the same key counts once."""
        names = self.lives.witness.names(self.name)
        return sum(1 if ":" in name else self.lives.witness.count(name) for name in names)

    def send(self) -> Reply:
        return self.person.chat(self.thread_id, self.message)

    @contextmanager
    def under_way(self) -> Generator[Future[Reply]]:
        """Send, and go on as soon as the effect took place; the tool is held, and the reply comes later."""
        sender = self.lives.somebody()
        with ThreadPoolExecutor(1) as pool, sender.http:
            reply = pool.submit(sender.chat, self.thread_id, self.message, **{"x-on-disconnect": "continue"})
            self.person.wait_for(lambda: self.effects, lambda effects: effects > 0)
            try:
                yield reply
            finally:
                self.release()
                with suppress(httpx.TransportError):
                    reply.result(REPLY_SECONDS)

    def release(self) -> None:
        self.lives.witness.release(self.name)

    @property
    def ended(self) -> int:
        """How often a held tool came to its end."""
        return self.lives.witness.count(f"end:{self.name}")

    def is_asked(self) -> None:
        reply = self.send()
        assert reply.events == ["interrupt", "end"], reply
        self.request_id = reply.first("interrupt")["request_id"]

    def pending(self) -> dict[str, Any]:
        """The one request that is open now, or will be soon."""
        status = self.person.wait_for_status(self.thread_id, "interrupted")
        (request,) = status["interrupt_info"]["requests"]
        return request

    def approve(self) -> Reply:
        return self.person.resume(self.thread_id, "continue", request_id=self.request_id)

    def answer(self, text: str) -> Reply:
        return self.person.resume(self.thread_id, "answer", answers=[text])

    def log(self, *, runs: int) -> list[Frame]:
        """What is in the thread's log, up to the end of its so-manieth run, without the texts of the agent."""
        return list(self._logged(runs))

    def _logged(self, runs: int) -> Iterator[Frame]:
        follower = self.lives.somebody()
        with follower.http, follower.stream(self.thread_id, last_event_id="0") as frames:
            for frame in frames:
                if frame.event != "messages/partial":
                    yield frame
                runs -= frame.event == "end"
                if not runs:
                    return

    def finishes(self, *, runs: int, effects: int = 1, said: str = "finished") -> list[str]:
        """It comes to its right end by itself, the person is not asked again, and the conversation can go on."""
        story = [frame.event for frame in self.log(runs=runs)]
        assert self.effects == effects
        if self.request_id:
            self.refuses_a_second_answer()
        assert self.person.chat(self.thread_id, "hello").text == "hello to you"
        history = self.person.history(self.thread_id)
        assert [one["content"] for one in history if one["role"] == "user"] == [self.message, "hello"]
        told = [one["content"] for one in history if one["role"] == "assistant"]
        assert len(told) == 2
        assert told[0].startswith(said), told
        return story

    def refuses_a_second_answer(self) -> None:
        before = self.person.status(self.thread_id), self.person.history(self.thread_id)
        refused = self.approve()
        assert refused.status == 409
        assert refused.body["code"] == "already_settled"
        assert refused.body["answered_by"] == "local"
        assert refused.body["source"] == "threads"
        assert refused.body["answered_at"]
        assert (self.person.status(self.thread_id), self.person.history(self.thread_id)) == before
