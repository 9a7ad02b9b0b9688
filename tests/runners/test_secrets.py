"""Values that people give to `ask.env_vars`: in the tool that asked, and nowhere else."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from sqlalchemy import select

from interlock import ask
from interlock.domain.errors import InvalidAnswer
from interlock.langchain import ask_tools
from interlock.storage.database import Database
from interlock.storage.schema import metadata
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent
from tests.runners.stage import THREAD, Stage

PLANTED = "sk-planted-3f9a71"


async def whole_database(database: Database) -> str:
    """Every value of every table, as text and as raw bytes."""
    found: list[str] = []
    assert "checkpoint_writes" in metadata.tables
    async with database.read() as connection:
        for table in metadata.sorted_tables:
            for row in await connection.execute(select(table)):
                found += [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in map(_raw, row)]
    return "\n".join(found)


def _raw(value: Any) -> Any:
    if isinstance(value, memoryview):
        return value.tobytes()
    return json.dumps(value) if isinstance(value, dict | list) else value


async def kept(stage: Stage) -> dict[str, tuple[str, str]]:
    async with stage.core.store.snapshot() as tx:
        return await tx.secrets.of_thread(THREAD)


async def test_a_secret_reaches_the_tool_and_no_row_of_the_database(host: Host, database: Database) -> None:
    used: list[str] = []

    @tool
    def login(user: str) -> str:
        """Log in."""
        used.append(ask.env_vars(["KEY"])["KEY"])
        return "logged in"

    @tool
    async def fetch(url: str) -> str:
        """Fetch."""
        used.append(ask.secret("KEY"))
        ask.clarification("really?")
        return "fetched"

    stage = await host(agent([login, fetch], [("c1", "login", {"user": "u"})], [("c2", "fetch", {"url": "x"})]))
    turn = await stage.say()
    assert turn.request.body["fields"][0]["name"] == "KEY"
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}, "save": False})
    assert turn.request.body["question"] == "really?"
    assert used == [PLANTED, PLANTED]
    assert [value for _, value in (await kept(stage)).values()] == [PLANTED]
    assert PLANTED not in await whole_database(database)

    turn = await stage.tell(turn.request, "yes")

    assert turn.status == "done"
    assert used == [PLANTED] * 3
    assert await kept(stage) == {}
    assert PLANTED not in await whole_database(database)


@on_sqlite
async def test_the_model_is_told_the_names_only_and_tools_read_the_values(host: Host, database: Database) -> None:
    used: list[str] = []

    @tool
    def call_api(path: str) -> str:
        """Call."""
        used.append(ask.secret("API_KEY"))
        return "called"

    fields = [{"name": "API_KEY"}, {"name": "REGION", "sensitive": False, "required": False}]
    stage = await host(
        agent(
            [*ask_tools, call_api],
            [("c1", "request_env_vars", {"fields": fields})],
            [("c2", "call_api", {"path": "/"})],
        )
    )
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"API_KEY": PLANTED}})

    assert turn.status == "done"
    assert used == [PLANTED]
    assert json.loads((await stage.results())["c1"]) == {"provided": ["API_KEY"]}
    assert PLANTED not in await whole_database(database)


@on_sqlite
async def test_after_the_run_the_value_is_gone_for_the_next_one(host: Host) -> None:
    @tool
    def give(x: str) -> str:
        """Ask."""
        return ",".join(ask.env_vars(["KEY"]))

    @tool
    def use(x: str) -> str:
        """Use."""
        try:
            return ask.secret("KEY")
        except LookupError:
            return "no key"

    script = [[("c1", "give", {"x": ""})], AIMessage("thanks"), [("c2", "use", {"x": ""})]]
    stage = await host(agent([give, use], *script))
    turn = await stage.say()
    await stage.reply(turn.request, {"values": {"KEY": PLANTED}})

    await stage.say("and now")

    assert (await stage.results())["c2"] == "no key"


@on_sqlite
async def test_a_failed_run_keeps_the_value_for_its_retry(host: Host) -> None:
    attempts: list[str] = []

    @tool
    def login(user: str) -> str:
        """Log in."""
        attempts.append(ask.env_vars(["KEY"])["KEY"])
        if len(attempts) == 1:
            raise ConnectionError("down")
        return "in"

    stage = await host(agent([login], [("c1", "login", {"user": "u"})]))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}})
    assert turn.status == "failed"

    turn = await stage.retry()

    assert turn.status == "done", turn.error
    assert attempts == [PLANTED, PLANTED]
    assert await kept(stage) == {}


@on_sqlite
@pytest.mark.parametrize("values", [{}, {"KEY": ""}, {"KEY": "x", "OTHER": "y"}, {"KEY": 7}, {"KEY": "x" * 40_000}])
async def test_what_was_not_asked_for_or_is_missing_is_refused(host: Host, values: Any) -> None:
    @tool
    def login(user: str) -> str:
        """Log in."""
        return str(len(ask.env_vars(["KEY"])))

    stage = await host(agent([login], [("c1", "login", {"user": "u"})]))
    turn = await stage.say()
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, {"values": values})
    assert len(await stage.open_requests()) == 1
    assert await kept(stage) == {}
