"""`interlock.ask` from the nodes and tools of a hosted graph."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from typing_extensions import TypedDict

from interlock import ask
from interlock.domain.errors import InvalidAnswer
from interlock.domain.event import ToolEnded
from interlock.domain.kinds import RequestKind
from interlock.services.core import OperatorSettings
from interlock.services.requests.answering import expire_due
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent, by_hand, line
from tests.runners.stage import THREAD, Stage, Turn

pytestmark = [pytest.mark.promise("P10"), on_sqlite]


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


def asking(question: Callable[[], Any], *, is_async: bool = False) -> Any:
    def node(state: Heard) -> Heard:
        return {"heard": shown(question)}

    async def async_node(state: Heard) -> Heard:
        return {"heard": shown(question)}

    return line(Heard, async_node if is_async else node)


def shown(question: Callable[[], Any]) -> Any:
    try:
        return repr(question())
    except ask.NotAnswered as error:
        return f"NotAnswered: {error.reason}"


async def expire(stage: Stage) -> Turn:
    """Let the deadline of the open request pass, and wait for the run that goes on."""
    after = (await stage.events())[-1].seq
    stage.clock.move(301)
    assert await expire_due(stage.core) == 1
    async with stage.core.store.snapshot() as tx:
        run = await tx.runs.last_of(THREAD)
    assert run is not None
    return await stage.ended(run, after)


CASES: list[Any] = [
    (
        lambda: ask.clarification("which?", ["a", "b"]),
        RequestKind.CLARIFICATION,
        {"answer": ""},
        {"answer": "c"},
        "'c'",
    ),
    (
        lambda: ask.clarification("which?", ["a", "b"], allow_custom=False),
        RequestKind.CLARIFICATION,
        {"answer": "c"},
        {"answer": "b"},
        "'b'",
    ),
    (
        lambda: ask.decision("ship it?", ["yes", {"key": "no", "label": "Not yet", "style": "danger"}]),
        RequestKind.DECISION,
        {"decision": "maybe"},
        {"decision": "no", "reason": "tests fail"},
        "Decision(decision='no', reason='tests fail')",
    ),
    (
        lambda: ask.questions(["name?", {"question": "size?", "options": ["s", "m"]}]),
        RequestKind.QUESTIONS,
        {"answers": ["Ann", "xl"]},
        {"answers": ["Ann", "m"]},
        "['Ann', 'm']",
    ),
    (
        lambda: ask.env_vars([{"name": "REGION", "sensitive": False}, "KEY"]),
        RequestKind.ENV_VAR,
        {"values": {"REGION": "eu"}},
        {"values": {"REGION": "eu", "KEY": "k"}},
        "{'REGION': 'eu', 'KEY': 'k'}",
    ),
    (
        lambda: ask.approval("deploy", {"to": "prod"}, risk_level="high"),
        RequestKind.APPROVAL,
        {"decision": "edit"},
        {"decision": "edit", "args": {"to": "staging"}},
        "Approval(decision='edit', args={'to': 'staging'}, message='')",
    ),
    (
        lambda: ask.approval("deploy", {"to": "prod"}),
        RequestKind.APPROVAL,
        {"decision": "yes"},
        {"decision": "reject", "message": "not today"},
        "Approval(decision='reject', args={'to': 'prod'}, message='not today')",
    ),
]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("question", "kind", "wrong", "right", "heard"), CASES)
async def test_each_ask_waits_for_a_fitting_answer(
    host: Host, question: Any, kind: RequestKind, wrong: Any, right: Any, heard: str, is_async: bool
) -> None:
    stage = await host(asking(question, is_async=is_async))
    turn = await stage.say()
    assert turn.request.kind is kind
    assert turn.request.timeout_seconds == 300
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, wrong)

    turn = await stage.reply(turn.request, right)

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == heard


@pytest.mark.parametrize("case", CASES)
async def test_an_ask_that_nobody_answers_says_so_to_the_node(host: Host, case: Any) -> None:
    stage = await host(asking(case[0]))
    await stage.say()

    turn = await expire(stage)

    assert turn.status == "done"
    assert (await stage.values())["heard"] == "NotAnswered: nobody answered before the deadline"


@pytest.mark.parametrize("case", CASES)
async def test_an_ask_that_is_cancelled_says_so_to_the_node(host: Host, case: Any) -> None:
    stage = await host(asking(case[0]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, None)

    assert turn.status == "done"
    assert (await stage.values())["heard"] == "NotAnswered: cancelled by ann"


@pytest.mark.parametrize(
    ("question", "heard"),
    [
        (lambda: ask.clarification("which?", default="the first"), "'the first'"),
        (lambda: ask.decision("ship?", ["yes", "no"], default="no"), "Decision(decision='no', reason='')"),
    ],
)
async def test_a_default_is_the_answer_when_the_deadline_passes(host: Host, question: Any, heard: str) -> None:
    stage = await host(asking(question))
    await stage.say()

    turn = await expire(stage)

    assert turn.status == "done"
    assert (await stage.values())["heard"] == heard


@pytest.mark.parametrize(
    ("answer", "is_granted"),
    [
        ({"decision": "accept"}, True),
        ({"decision": "edit", "args": {"to": "staging"}}, True),
        ({"decision": "reject", "message": "never"}, False),
        ({"decision": "response", "message": "done already"}, False),
    ],
)
async def test_an_approval_is_true_only_where_it_was_granted(host: Host, answer: Any, is_granted: bool) -> None:
    stage = await host(asking(lambda: "paid" if ask.approval("pay", {"to": "prod"}) else "kept"))
    turn = await stage.say()
    await stage.reply(turn.request, answer)
    assert (await stage.values())["heard"] == repr("paid" if is_granted else "kept")


async def test_a_decision_is_neither_true_nor_false(host: Host) -> None:
    stage = await host(asking(lambda: "dropped" if ask.decision("Drop it?", ["yes", "no"]) else "kept"))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "no"})
    assert turn.status == "failed"
    assert ".decision" in str(turn.error)


async def test_an_ask_without_a_timeout_waits_for_as_long_as_it_takes(host: Host) -> None:
    stage = await host(asking(lambda: ask.clarification("which?", timeout=None)))
    turn = await stage.say()
    assert turn.request.deadline is None
    stage.clock.move(1e6)
    assert await expire_due(stage.core) == 0


async def test_the_operators_timeout_holds_for_approvals_that_name_none(host: Host) -> None:
    graph = asking(lambda: ask.approval("x", {}, timeout=None))
    stage = await host(graph, settings=OperatorSettings(approval_timeout=60))
    assert (await stage.say()).request.timeout_seconds == 60


async def test_an_ask_that_cannot_be_asked_fails_the_run_with_every_reason(host: Host) -> None:
    stage = await host(asking(lambda: ask.decision("", [])))
    turn = await stage.say()
    assert turn.status == "failed"
    assert turn.error is not None
    assert "title must not be empty" in turn.error
    assert "options must not be empty" in turn.error


@pytest.mark.parametrize("kind", ["agent", "by_hand"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_tool_may_ask_in_the_middle_of_its_work(host: Host, kind: str, is_async: bool) -> None:
    entered: list[str] = []

    def work(path: str) -> str:
        entered.append(path)
        first = ask.clarification(f"where to put {path}?")
        second = ask.decision("sure?", ["yes", "no"])
        return f"{path} -> {first}, {second.decision}"

    @tool("move")
    def move(path: str) -> str:
        """Move a file."""
        return work(path)

    @tool("move")
    async def async_move(path: str) -> str:
        """Move a file."""
        return work(path)

    tools = [async_move if is_async else move]
    made = [("c1", "move", {"path": "a"})]
    stage = await host(agent(tools, made) if kind == "agent" else by_hand(tools, made))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "there")
    assert turn.request.kind is RequestKind.DECISION

    turn = await stage.reply(turn.request, {"decision": "yes"})

    assert turn.status == "done"
    assert (await stage.results())["c1"] == "a -> there, yes"
    assert entered == ["a"] * 3


async def test_a_name_that_nobody_gave_a_value_for_is_no_secret(host: Host) -> None:
    def node(state: Heard) -> Heard:
        with pytest.raises(LookupError):
            ask.secret("KEY")
        return {"heard": "none"}

    stage = await host(line(Heard, node))
    assert (await stage.say()).status == "done"
    with pytest.raises(LookupError):
        ask.secret("KEY")


async def test_messages_state_takes_an_ask_too(host: Host) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", ask.clarification("which?"))]}

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    await stage.tell(turn.request, "this")
    assert (await stage.messages())[-1].text == "this"


def asking_tool(*, is_async: bool) -> Any:
    @tool("deploy")
    async def deploy(path: str) -> str:
        """Deploy where a person says."""
        return f"deployed to {ask.clarification('where to?')}"

    @tool("deploy")
    def deploy_sync(path: str) -> str:
        """Deploy where a person says."""
        return f"deployed to {ask.clarification('where to?')}"

    return deploy if is_async else deploy_sync


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("make", [agent, by_hand])
@pytest.mark.parametrize(
    ("expires", "reason"), [(True, "nobody answered before the deadline"), (False, "cancelled by ann")]
)
async def test_an_ask_that_nobody_answers_is_the_result_of_the_tool_that_did_not_expect_it(
    host: Host, make: Any, is_async: bool, expires: bool, reason: str
) -> None:
    stage = await host(make([asking_tool(is_async=is_async)], [("c1", "deploy", {"path": "a"})]))
    turn = await stage.say()

    turn = await expire(stage) if expires else await stage.reply(turn.request, None)

    assert turn.status == "done", turn.error
    assert await stage.results() == {"c1": f"Not answered: {reason}. deploy stopped there."}
    ended = await stage.events_of(ToolEnded)
    assert [one.status for one in ended] == ["failed"]
    assert (await stage.messages())[-1].text == "done"


async def test_an_ask_in_a_plain_node_that_nobody_answers_is_the_nodes_own_affair(host: Host) -> None:
    async def node(state: Heard) -> Heard:
        return {"heard": ask.clarification("where to?")}

    stage = await host(line(Heard, node))
    turn = await stage.say()

    turn = await stage.reply(turn.request, None)

    assert turn.status == "failed"
    assert "NotAnswered: cancelled by ann" in (turn.error or "")
