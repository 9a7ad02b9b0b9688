"""A planted value is found nowhere but in the tool that asked for it: in no file, row, reply, event or log."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from interlock.storage.database import open_database
from interlock_client.cli.main import app
from tests.durability.planting import listening, new_value, spellings
from tests.faces.threads.asking import KEY, variables
from tests.support.hitl import AGENT, HITL, HitlClient, chatted, data_of, finished
from tests.support.people import People
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P13")

SPEC = f"leaky={Path(__file__).with_name('leaky_agent.py')}:agent"
ASKED: dict[str, Any] = {"fields": [{"name": "API_KEY"}]}


class Conversation:
    """One owner, on both faces, and everything that was said to them."""

    def __init__(self, server: ServerProcess, token: str, witness: Witness) -> None:
        self.heard = bytearray()
        self.server = server
        self.witness = witness
        self.person = ThreadsClient(server.url, "root")
        self.person.http.close()
        self.person.http = listening(server.url, token, self.heard)
        self.hitl = HitlClient(server.url, token)
        self.hitl.http.close()
        self.hitl.http = self.person.http
        self.planted: list[str] = []
        self.control = secrets.token_hex(16)
        """Sent along with one of them, and no secret: where this is not found, nobody looked."""
        self.threads: list[str] = []

    def asked(self, *then: Call) -> tuple[str, str]:
        """The agent asks for the key, and then makes these calls; the conversation and the request."""
        thread_id = self.person.new_thread()
        self.threads.append(thread_id)
        chatted(self.person, thread_id, script(calls(variables(KEY)), *(calls(call) for call in then)))
        return thread_id, self.hitl.one_pending(thread_id)["request_id"]

    def value(self) -> str:
        self.planted.append(new_value())
        return self.planted[-1]

    def was_used(self, value: str, times: int = 1) -> None:
        name = f"key:{hashlib.sha256(value.encode()).hexdigest()}"
        assert wait_for(lambda: self.witness.count(name), lambda count: count >= times) == times


USE: Call = ("use_key", {"name": "API_KEY"})


def by_respond(talk: Conversation) -> None:
    thread_id, request_id = talk.asked(USE)
    value = talk.value()
    for _ in range(2):
        talk.hitl.respond(request_id, {"values": {"API_KEY": value}}, key="planted", metadata={"note": talk.control})
    finished(talk.person, thread_id)
    talk.was_used(value)


def by_saving(talk: Conversation) -> None:
    thread_id, request_id = talk.asked(USE)
    value = talk.value()
    talk.hitl.respond(request_id, {"values": {"API_KEY": value}, "save": True})
    finished(talk.person, thread_id)
    again = chatted(talk.person, thread_id, script(calls(variables(KEY)), calls(USE)))
    assert "interrupt" not in again.events
    talk.was_used(value, 2)
    (saved,) = talk.hitl.saved()
    assert talk.person.http.delete(f"/api/v1/secrets/{saved['id']}").status_code == 200


def by_threads_face(talk: Conversation) -> None:
    thread_id, _ = talk.asked(USE)
    value = talk.value()
    assert talk.person.resume(thread_id, "answer", answers=[value, value]).status == 200
    assert talk.person.resume(thread_id, "answer", answers=[value]).status == 200
    talk.was_used(value)


def by_asking_from_outside(talk: Conversation) -> None:
    asked = talk.hitl.ask("env_var", ASKED)
    talk.threads.append(asked["conversation_id"])
    value = talk.value()
    talk.hitl.respond(asked["request_id"], {"values": {"API_KEY": value}, "save": True})
    saved = talk.hitl.ask("env_var", ASKED)
    talk.threads.append(saved["conversation_id"])
    assert saved["source"] == "saved"
    # Only here it is told: to who asked, once.
    with HitlClient(talk.server.url, talk.person.http.headers["authorization"].removeprefix("Bearer ")) as asker:
        assert data_of(asker.collect(asked["request_id"])) == {"values": {"API_KEY": value}}
    talk.hitl.try_respond(asked["request_id"], {"values": {"API_KEY": value}})


def by_what_is_rejected(talk: Conversation) -> None:
    _, request_id = talk.asked(USE)
    value = talk.value()
    wrong: list[Any] = [
        {"values": {"API_KEY": value}, "note": value},
        {"values": {"API_KEY": value, "OTHER": value}},
        {"values": {"API_KEY": [value]}},
        {"values": {"API_KEY": value}, "save": value},
        {"values": value},
        {"answer": value},
        {"granted": value},
        value,
        [value],
    ]
    for response in wrong:
        assert talk.hitl.try_respond(request_id, response).status_code == 400
    for path, body in (
        ("respond", value),
        ("respond", {"response": {"values": {"API_KEY": value}}}),
        ("cancel", [value]),
    ):
        assert talk.hitl.post(path, body).status_code == 400
    raw = f'{{"request_id": "{request_id}", "response": {{"values": {{"API_KEY": {json.dumps(value)}}}'
    headers = {"content-type": "application/json"}
    assert talk.person.http.post(f"{HITL}/respond", content=raw, headers=headers).status_code == 400
    deep = raw + "[" * 100
    assert talk.person.http.post(f"{HITL}/respond", content=deep, headers=headers).status_code == 400
    assert talk.hitl.try_respond("envv_unknown", {"values": {"API_KEY": value}}).status_code == 404


def by_failing_tools(talk: Conversation) -> None:
    for name in ("fail_softly", "fail_in_quotes", "fail_in_part", "fail_by_line", "fail_encoded"):
        thread_id, request_id = talk.asked((name, {"name": "API_KEY"}))
        talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
        assert "***" in finished(talk.person, thread_id)
    thread_id, request_id = talk.asked(("fail_hard", {"name": "API_KEY"}))
    talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
    wait_for(
        lambda: talk.person.chat(thread_id, script({"say": ["after"]})).status,
        lambda status: status == 200,
    )


def by_a_value_that_begins_another(talk: Conversation) -> None:
    thread_id = talk.person.new_thread()
    talk.threads.append(thread_id)
    fail: Call = ("fail_with_both", {"name": "API_KEY"})
    chatted(talk.person, thread_id, script(calls(variables(KEY, {"name": "LONGER"})), calls(fail)))
    first, rest = talk.value(), talk.value()
    values = {"API_KEY": first, "LONGER": first + rest}
    talk.hitl.respond(talk.hitl.one_pending(thread_id)["request_id"], {"values": values})
    assert finished(talk.person, thread_id).count("***") == 2


def by_what_the_agent_tells_while_it_runs(talk: Conversation) -> None:
    thread_id, request_id = talk.asked(("log_all", {"name": "API_KEY"}))
    talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
    assert "logged and told" in finished(talk.person, thread_id)


def by_threads_that_a_tool_starts(talk: Conversation) -> None:
    for _ in range(2):
        thread_id, request_id = talk.asked(("log_in_threads", {"name": "API_KEY"}))
        talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
        assert "logged in threads" in finished(talk.person, thread_id)
    thread_id, request_id = talk.asked(("log_later", {"name": "API_KEY"}))
    talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
    assert "left behind" in finished(talk.person, thread_id)
    thread_id = talk.person.new_thread()
    assert "heard them" in chatted(talk.person, thread_id, script(calls(("let_speak", {"name": "it"})))).text
    said = [json.loads(line) for line in talk.server.log.read_text().splitlines() if "some.library" in line]
    for where in ("a thread", "a pool", "everybody's pool", "a thread left behind"):
        assert f"{where}: whole ***, in part *** and ***" in [one["message"] for one in said]
        assert f"{where}: header" in [one["message"] for one in said if one.get("error") == "Authorization: ***"]
    # What ends a thread is told, and in the log, where it is redacted.
    assert "invalid literal for int()" in talk.server.log.read_text()


def by_errors_that_hold_it_where_nobody_reads(talk: Conversation) -> None:
    for name in ("fail_mutely", "fail_to_encode", "fail_in_a_group", "fail_in_an_effect"):
        thread_id, request_id = talk.asked((name, {"name": "API_KEY"}))
        talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
        after_failure(talk, thread_id)


def after_failure(talk: Conversation, thread_id: str) -> None:
    wait_for(lambda: talk.person.chat(thread_id, script({"say": ["after"]})).status, lambda status: status == 200)


def by_what_tools_keep(talk: Conversation) -> None:
    ends = {
        "keep_in_an_effect": "kept in an effect",
        "keep_beside_the_result": "kept beside",
        "keep_in_a_message": "kept in a message",
    }
    for name, end in ends.items():
        thread_id, request_id = talk.asked((name, {"name": "API_KEY"}))
        talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
        assert end in finished(talk.person, thread_id)
    # What is stored goes without it; the code that runs has what it made.
    told = hashlib.sha256(talk.planted[-3].encode()).hexdigest()
    assert talk.witness.count(f"header:{told}") == 1


def by_what_python_tells_itself(talk: Conversation) -> None:
    thread_id, request_id = talk.asked(("log_past_the_log", {"name": "API_KEY"}))
    talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
    assert "logged past the log" in finished(talk.person, thread_id)
    said = ("nobody reads ***", "called late with ***", "an executor: whole ***", "do not use ***", "not closed: ***")
    wait_for(talk.server.log.read_text, lambda log: all(one in log for one in said))


def by_a_client_that_a_later_turn_uses(talk: Conversation) -> None:
    thread_id, request_id = talk.asked(("connect", {"name": "API_KEY"}))
    talk.hitl.respond(request_id, {"values": {"API_KEY": talk.value()}})
    assert "connected" in finished(talk.person, thread_id)
    again = chatted(talk.person, thread_id, script(calls(("use_client", {"name": "soft"}))))
    assert "401 for key ***" in again.text
    other = talk.person.new_thread()
    talk.threads.append(other)
    assert "401 for key ***" in chatted(talk.person, other, script(calls(("use_client", {"name": "soft"})))).text
    for one in (thread_id, other):
        talk.person.chat(one, script(calls(("use_client", {"name": "hard"}))))
        after_failure(talk, one)


def read_everything(talk: Conversation) -> None:
    """Whatever can be read of what happened, on every face."""
    http = talk.person.http
    for path in ("/api/sessions", f"{HITL}/pending", "/api/v1/secrets", "/api/v1/grants", "/api/v1/audit?limit=200"):
        assert http.get(path).status_code == 200
    for thread_id in talk.threads:
        for path in (
            f"/api/status/{thread_id}",
            f"/api/history/{thread_id}",
            f"{HITL}/conversations/{thread_id}/pending",
        ):
            http.get(path)
        for path in (f"/api/stream/{thread_id}", f"{AGENT}/stream?conversation_id={thread_id}"):
            _read_for_a_moment(http, path)
    for request_id in {one["data"]["request_id"] for one in _entries(http)}:
        assert http.get(f"{HITL}/requests/{request_id}").status_code in (200, 404)


def _entries(http: httpx.Client) -> list[dict[str, Any]]:
    return [one for one in http.get("/api/v1/audit?limit=200").json()["entries"] if "request_id" in one["data"]]


def _read_for_a_moment(http: httpx.Client, path: str) -> None:
    """The whole log of a stream comes at once; what would follow never does."""
    bounds = httpx.Timeout(20.0, read=0.3)
    try:
        with http.stream("GET", path, headers={"last-event-id": "0"}, timeout=bounds) as response:
            assert response.status_code == 200
            for _ in response.iter_bytes():
                pass
    except httpx.ReadTimeout:
        return


@contextmanager
def talking(server: ServerProcess, witness: Witness) -> Generator[Conversation]:
    with People(server.url) as people:
        token = people.named("root").http.headers["authorization"].removeprefix("Bearer ")
        talk = Conversation(server, token, witness)
        try:
            yield talk
        finally:
            talk.person.http.close()


async def rows(url: str) -> bytes:
    """Every column of every row, as PostgreSQL writes them out."""
    database = open_database(url)
    found: list[str] = []
    async with database.read() as connection:
        named = "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        for table in (await connection.execute(text(named))).scalars().all():
            found += (await connection.execute(text(f'SELECT t::text FROM "{table}" t'))).scalars().all()
    await database.close()
    return "\n".join(found).encode()


@pytest.fixture
def leaky(tmp_path: Path, database_url: str, witness: Witness) -> Generator[ServerProcess]:
    environment = {**witness.environment, "INTERLOCK_LOG_LEVEL": "debug"}
    process = ServerProcess(tmp_path / "data", agents=[SPEC], database=database_url, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


def test_a_planted_value_is_found_nowhere(
    leaky: ServerProcess, witness: Witness, database_url: str, tmp_path: Path
) -> None:
    ways = (
        by_respond,
        by_saving,
        by_threads_face,
        by_asking_from_outside,
        by_what_is_rejected,
        by_failing_tools,
        by_a_value_that_begins_another,
        by_what_the_agent_tells_while_it_runs,
        by_threads_that_a_tool_starts,
        by_errors_that_hold_it_where_nobody_reads,
        by_what_tools_keep,
        by_what_python_tells_itself,
        by_a_client_that_a_later_turn_uses,
    )
    with talking(leaky, witness) as talk:
        for way in ways:
            way(talk)
        read_everything(talk)
        heard, planted, control = bytes(talk.heard), talk.planted, talk.control.encode()
    before = _files(tmp_path)
    leaky.stop()
    places = {"what the server said": heard, **before, **_files(tmp_path)}
    exporting = CliRunner().invoke(app, ["audit", "export", "--data", str(leaky.data), "--database", database_url])
    assert exporting.exit_code == 0, exporting.output
    places["the audit export"] = exporting.output.encode()
    if database_url.startswith("postgres"):
        places["the rows"] = asyncio.run(rows(database_url))
    database = "the rows" if database_url.startswith("postgres") else "interlock.db"
    assert all(control in places[where] for where in ("what the server said", "the audit export", database))
    assert len(planted) == 26
    found = {
        (where, spelling) for where, content in places.items() for one in planted for spelling in spellings(one)
        if spelling in content
    }  # fmt: skip
    assert found == set()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
