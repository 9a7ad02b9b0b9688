"""Values that people give to `ask.env_vars`: in the tool that asked, and nowhere else."""

import json
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from sqlalchemy import select

from interlock import ask, effect
from interlock.domain.errors import InvalidAnswer
from interlock.domain.event import Custom, Event, RunEnded, Token
from interlock.langchain import ask_tools
from interlock.runners.secret_values import ThreadSecrets
from interlock.storage.database import Database
from interlock.storage.schema import metadata
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent, line
from tests.runners.stage import THREAD, Stage, own_thread
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P13")

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


@on_sqlite
async def test_a_value_that_a_model_says_piece_by_piece_reaches_no_follower(host: Host) -> None:
    value = "correct horse battery staple"
    text = f"It was {value}, and Correct Horse is no value."
    model = GenericFakeChatModel(messages=iter([AIMessage(text)]))

    async def node(state: MessagesState) -> Any:
        ask.env_vars(["KEY"])
        return {"messages": [await model.ainvoke("say it")]}

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    async with stage.core.bus.subscribe(THREAD) as news:
        await stage.reply(turn.request, {"values": {"KEY": value}, "save": False})
        pieces: list[str] = []
        while not isinstance(item := await news.next(5), Event) or not isinstance(item.data, RunEnded):
            assert item is not None
            pieces += [item.text] if isinstance(item, Token) else []
    assert len(pieces) > 2
    assert "".join(pieces) == "It was ***, and Correct Horse is no value."


@on_sqlite
async def test_a_value_in_several_custom_events_reaches_no_follower(host: Host) -> None:
    def node(state: MessagesState) -> None:
        ask.env_vars(["KEY"])
        tell = get_stream_writer()
        for piece in ("key: sk-plan", "ted-3f", "9a71", "."):
            tell({"type": "token", "text": piece})
        for piece in PLANTED:
            tell(piece)
        tell({"type": "done", "parts": ["sk-pla", "nted-3", "f9a71"]})

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    await stage.reply(turn.request, {"values": {"KEY": PLANTED}, "save": False})
    told: list[Any] = [custom.data for custom in await stage.events_of(Custom)]
    assert told[:4] == [{"type": "token", "text": text} for text in ("key: ***", "***", "***", ".")]
    assert told[4:-1] == ["s", "k", "-", *["***"] * (len(PLANTED) - 3)]
    assert told[-1] == {"type": "done", "parts": ["***"] * 3}


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
    assert shown(turn.request)["fields"][0]["name"] == "KEY"
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}, "save": False})
    assert shown(turn.request)["question"] == "really?"
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


async def test_a_graph_has_in_its_state_what_it_put_there_until_it_is_read_from_the_store(
    host: Host, database: Database
) -> None:
    """What is stored goes without the value, and `ask.secret` has it for as long as the run lasts."""
    found: list[tuple[str, str, str]] = []

    class State(MessagesState):
        token: str
        environment: str
        header: dict[str, Any]

    def login(state: State) -> dict[str, Any]:
        key = ask.env_vars(["KEY"])["KEY"]
        header = effect("login", lambda: {"raw": (key.encode(), f"Bearer {key}")})
        return {"token": key, "environment": "planted-3", "header": header}

    def use(state: State) -> dict[str, Any]:
        found.append((state["token"], state["environment"], state["header"]["raw"][1]))
        if len(found) == 1:
            ask.clarification("really?")
        return {"token": ask.secret("KEY")}

    graph: Any = StateGraph(State)
    graph.add_node("login", login).add_node("use", use)
    graph.add_edge(START, "login").add_edge("login", "use").add_edge("use", END)
    stage = await host(graph)
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}})
    turn = await stage.tell(turn.request, "yes")

    assert turn.status == "done", turn.error
    # A word of the value is what it was: the graph may decide by it.
    assert found == [(PLANTED, "planted-3", f"Bearer {PLANTED}"), ("***", "planted-3", "Bearer ***")]
    assert PLANTED not in await whole_database(database)


@pytest.mark.parametrize("other", [False, True], ids=["the_same_thread", "another_thread"])
async def test_a_client_kept_from_an_earlier_run_tells_its_key_to_nobody(
    host: Host, database: Database, other: bool
) -> None:
    clients: list[str] = []

    def work(state: MessagesState) -> dict[str, Any]:
        if not clients:
            clients.append(ask.env_vars(["KEY"])["KEY"])
            return {"messages": [AIMessage("connected")]}
        raise ConnectionError(f"401 for {clients[0]}", clients[0])

    graph: Any = StateGraph(MessagesState)
    graph.add_node("work", work).add_edge(START, "work").add_edge("work", END)
    stage = await host(graph)
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}})
    assert turn.status == "done"

    turn = await stage.say("and now", own_thread(1) if other else THREAD)

    assert turn.status == "failed"
    assert turn.error is not None
    assert "401 for ***" in turn.error
    assert PLANTED not in await whole_database(database)


def test_what_is_remembered_is_the_owners_and_hides_words_in_its_own_thread_only() -> None:
    memory = ThreadSecrets()
    memory.hear("ann", "t1", ["key-for-production"])
    text = "key-for-production is for production"
    assert memory.silence("ann", "t1").text(text) == "*** is for ***"
    assert memory.silence("ann", "t2").text(text) == "*** is for production"
    assert memory.silence("bob", "t3").text(text) == text
    assert not memory.silence("bob", "t3").data


def test_no_more_is_remembered_than_there_is_room_for() -> None:
    memory = ThreadSecrets(room=100)
    values = [f"{number:040}" for number in range(10)]
    for number, value in enumerate(values):
        memory.hear("ann", f"t{number}", [value])
        assert memory.silence("ann", f"t{number}").text(value) == "***"
    hidden = [value for value in values if memory.silence("ann", "t0").data(value) == "***"]
    assert hidden == values[-2:]
    memory.hear("ann", "long", ["x" * 200])
    assert memory.silence("ann", "long").text("x" * 200) == "***"
