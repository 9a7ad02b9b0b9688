"""`kill -9` anywhere, again and again, under agents whose calls and effects ask: no yes reaches another question."""

import random
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.durability.lives import LEASE_SECONDS, Lives
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P4", "P6", "P8")

AGENTS = (
    "tool_node",
    "inner_effects",
    "plain_node",
    "subagent",
    "subagents",
    "agents_in_effects",
    "shrinking_list",
    "side_by_side",
    "agents_side_by_side",
    "agents_in_a_runnable",
    "agents_in_line",
)
POINTS = (
    "effect.intended",
    "effect.returned",
    "effect.done",
    "ask.committing",
    "ask.committed",
    "answer.committed",
    "checkpoint.writing",
    "checkpoint.written",
    "run.claimed",
    "run.finishing",
)
RESPOND = "/api/v1/agent/hitl/respond"
LIVES = 10
_names = count(1)


@pytest.fixture
def lives(tmp_path: Path, database_url: str, witness: Witness) -> Generator[Lives]:
    graphs = Path(__file__).parent / "asking_graphs.py"
    server = ServerProcess(
        tmp_path / "data",
        agents=[f"{name}={graphs}:{name}" for name in AGENTS],
        database=database_url,
        auth="none",
        environment={**witness.environment, "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS},
    )
    lives = Lives(server, witness)
    yield lives
    lives.close()
    server.close()


@dataclass
class Conversation:
    lives: Lives
    agent: str
    random: random.Random
    name: str = field(default_factory=lambda: f"a{next(_names)}.")
    thread_id: str = ""
    is_sent: bool = False
    retries: int = 0
    left_out: int = 0

    def go_on(self) -> bool:
        """Do what is due; True when it has come to its end."""
        http = self.lives.person.http
        if not self.thread_id:
            self.thread_id = self.lives.person.new_thread(self.agent)
        if not self.is_sent:
            # A message whose reply did not come may have been taken: that it was is seen in the history.
            if not self.lives.person.history(self.thread_id):
                self.lives.person.chat(self.thread_id, self.name)
            self.is_sent = True
        wait_for(self._state, lambda state: state is not None)
        requests = self._state()
        for request in requests or ():
            http.post(RESPOND, json={"request_id": request["request_id"], "response": self._reply(request)})
        return requests == []

    def _state(self) -> list[dict[str, Any]] | None:
        """What is asked now; nothing when it has ended; None while it runs."""
        status = self.lives.person.status(self.thread_id)
        if status["status"] == "interrupted":
            return status["interrupt_info"]["requests"]
        told = [one["content"] for one in self.lives.person.history(self.thread_id) if one["role"] == "assistant"]
        return [] if told and told[-1] == "finished" else None

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["request_data"].get("decision_type") == "graph_in_doubt":
            return {"decision": "anew"}
        if request["kind"] == "decision":
            word = self.random.choice(["retry", "skip", "done"])
            self.retries += word == "retry"
            self.left_out += word != "retry"
            return {"decision": word}
        question = request["request_data"]["question"]
        return {"answer": f"{'yes' if 'staging' in question else 'no'}, {question}"}


def survive(lives: Lives, conversations: list[Conversation], chance: random.Random) -> None:
    for life in range(LIVES + 1):
        point = f"{chance.choice(POINTS)}=kill@{chance.randint(1, 5)}" if life < LIVES else ""
        if not lives.start_alive(point):
            continue
        try:
            # In the last life nothing is broken, and each has but a few steps left.
            for _ in range(20):
                conversations = [one for one in conversations if not one.go_on()]
                if not conversations:
                    return
        except httpx.TransportError:
            lives.server.wait_until_dead()
    raise AssertionError(f"{[(one.agent, one.name) for one in conversations]} have not ended")


@pytest.mark.parametrize(("database_url", "seed"), [("sqlite", 1), ("postgres", 2)], indirect=["database_url"])
def test_every_yes_is_for_its_own_question_through_any_number_of_kills(lives: Lives, seed: int) -> None:
    chance = random.Random(seed)
    conversations = [Conversation(lives, agent, chance) for agent in AGENTS * 2]

    survive(lives, list(conversations), chance)

    for one in conversations:
        assert lives.witness.count(f"misheard:{one.name}") == 0
        assert lives.witness.count(f"PRODUCTION:{one.name}") == 0
        deleted = lives.witness.count(f"staging:{one.name}")
        assert deleted <= 1 + one.retries, (one.agent, one.retries)
        assert deleted or one.left_out, one.agent
