"""A data folder and a PostgreSQL database that version 0.1.0 wrote: they open, and what waited in them goes on.

In each: a conversation whose call was approved and one whose call was refused, one that waits for two approvals, one
that waits for an answer, a request of each kind from an agent that runs elsewhere, and a secret that was given.
"""

import json
import lzma
import sqlite3
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers.postgres import PostgresServer
from tests.support.hitl import ASKED, HitlClient, of
from tests.support.people import People
from tests.support.puppet import SPEC
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import ADDRESS, Witness

WRITTEN = Path(__file__).parent / "version_0_1_0"
WITHOUT_DEADLINES = "UPDATE requests SET deadline = NULL, warn_at = NULL"
"""What waited in them waited for minutes, and would have expired since."""
KEY = {"INTERLOCK_SECRET_KEY": "of the older version, 0123456789abcdef"}


@dataclass
class Older:
    written: dict[str, Any]
    person: ThreadsClient
    hitl: HitlClient
    witness: Witness


def unpacked(name: str) -> bytes:
    return lzma.decompress((WRITTEN / name).read_bytes())


@pytest.fixture(params=["sqlite", "postgres"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Older]:
    written = json.loads((WRITTEN / "written.json").read_text())[request.param]
    if request.param == "sqlite":
        (tmp_path / "interlock.db").write_bytes(unpacked("interlock.db.xz"))
        with closing(sqlite3.connect(tmp_path / "interlock.db")) as file, file:
            file.execute(WITHOUT_DEADLINES)
    with Witness() as witness:
        environment = {**KEY, ADDRESS: str(witness.port)}
        if request.param == "sqlite":
            yield from _serve(ServerProcess(tmp_path, agents=[SPEC], environment=environment), written, witness)
            return
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        with postgres.fresh_database() as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(unpacked("postgres.sql.xz"))
                connection.execute(f"SET search_path TO public; {WITHOUT_DEADLINES}")
            server = ServerProcess(tmp_path, agents=[SPEC], database=url, environment=environment)
            yield from _serve(server, written, witness)


def _serve(server: ServerProcess, written: dict[str, Any], witness: Witness) -> Generator[Older]:
    with server, People(server.url) as people:
        person = people.named("root")
        hitl = of(person)
        with hitl.http:
            yield Older(written, person, hitl, witness)


def test_what_waited_goes_on_exactly_once(older: Older) -> None:
    person, thread = older.person, older.written["open"]
    # 0.1.0 did not write down to what it asked an answer belongs: what its pauses are answered with is asked once more.
    for _ in range(2):
        waiting = person.wait_for(lambda: person.status(thread), lambda now: now["has_pending_tasks"])
        first, second = waiting["interrupt_info"]["requests"]
        person.resume(thread, "continue", request_id=first["request_id"])
        assert older.witness.count("approved-later") == 0
        person.resume(thread, "cancel", request_id=second["request_id"])
    person.wait_for_rest(thread)
    assert [older.witness.count(name) for name in ("approved-later", "refused-later")] == [1, 0]
    asking = older.written["asking"]
    assert person.resume(asking, "answer", answers=["the left one"]).text.endswith("the end")
    assert "the left one" in json.dumps(person.history(asking), ensure_ascii=False)


def test_what_was_asked_from_elsewhere_is_answered(older: Older) -> None:
    for kind, request_id in older.written["asked"].items():
        assert older.hitl.look(request_id)["status"] == "pending"
        assert older.hitl.respond(request_id, ASKED[kind][2])
        assert older.hitl.look(request_id)["status"] == "answered"


def test_what_had_ended_is_read_as_it_was(older: Older) -> None:
    told = json.dumps([older.person.history(older.written[name]) for name in ("done", "refused")], ensure_ascii=False)
    assert "not today" in told
    answered = older.hitl.look(older.written["answered"])
    assert (answered["status"], answered["response"]["values"]["API_KEY"]) == ("answered", "***")
    with older.person.stream(older.written["done"], "0") as frames:
        events = [next(frames).event for _ in range(4)]
    assert "interrupt" in events


BEFORE_OWN_NUMBERS = Path(__file__).parent / "before_own_numbers"
"""Written by the version that found an agent inside an effect or a call by its number within the task."""


@pytest.mark.parametrize("agent", ["effects", "tools"])
def test_an_agent_inside_that_waited_before_effects_had_numbers_of_their_own_goes_on(
    agent: str, tmp_path: Path, witness: Witness
) -> None:
    (tmp_path / "interlock.db").write_bytes(lzma.decompress((BEFORE_OWN_NUMBERS / "interlock.db.xz").read_bytes()))
    thread = json.loads((BEFORE_OWN_NUMBERS / "written.json").read_text())[agent]
    graph = Path(__file__).parent / "inner_agents.py"
    environment = {**KEY, **witness.environment}
    names = [f"{name}={graph}:{name}" for name in ("effects", "tools")]
    with ServerProcess(tmp_path, agents=names, auth="none", environment=environment) as server:
        person = ThreadsClient(server.url)
        with person.http:
            person.resume(thread, "answer", answers=["go on, left"])

            assert [witness.count(what) for what in ("begin left", "end left: go on, left")] == [0, 1]
