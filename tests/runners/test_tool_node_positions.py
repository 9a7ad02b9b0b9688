"""A hand-written ToolNode runs all calls of a message in one task: none is ever given the answer of another."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from interlock import ask
from interlock.domain.kinds import RequestKind
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import by_hand, calls
from tests.runners.stage import SECONDS, Stage, Turn
from tests.support.bodies import shown


class Asking:
    """A tool that waits, asks so many times, and notes each answer under its own name."""

    def __init__(self) -> None:
        self.deeds = Deeds()

        def answers(name: str, times: int) -> str:
            heard = [ask.clarification(f"{name}{n}?") for n in range(times)]
            self.deeds.note(name)
            return f"{name}: {','.join(heard)}"

        @tool("work")
        async def work(name: str, times: int, delay: float = 0) -> str:
            """Work."""
            await asyncio.sleep(delay)
            return answers(name, times)

        @tool("work")
        def work_sync(name: str, times: int, delay: float = 0) -> str:
            """Work."""
            return answers(name, times)

        self.tool, self.sync_tool = work, work_sync


async def converse(stage: Stage, turn: Turn) -> tuple[Turn, list[str]]:
    """Answer every question with its own text, upper case, until the run ends; give the questions in order."""
    asked: list[str] = []
    async with asyncio.timeout(SECONDS):
        while turn.status == "paused":
            request = turn.request
            question = shown(request)["question"]
            asked.append(question)
            turn = await stage.tell(request, question.upper())
    return turn, asked


def made(*calls: tuple[str, int, float]) -> list[Any]:
    return [(f"c-{name}", "work", {"name": name, "times": times, "delay": delay}) for name, times, delay in calls]


def heard(*calls: tuple[str, int, float]) -> dict[str, str]:
    return {f"c-{name}": f"{name}: {','.join(f'{name.upper()}{n}?' for n in range(times))}" for name, times, _ in calls}


@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize(
    "calls",
    [
        [("a", 1, 0), ("b", 1, 0)],
        [("a", 2, 0.02), ("b", 0, 0), ("c", 2, 0)],
        [("a", 0, 0.03), ("b", 1, 0), ("c", 1, 0.02)],
        [("a", 1, 0.03), ("b", 0, 0), ("c", 3, 0), ("d", 1, 0.01)],
    ],
)
@on_sqlite
async def test_no_call_is_given_the_answer_of_another(
    host: Host, calls: Sequence[tuple[str, int, float]], is_sync: bool
) -> None:
    asking = Asking()
    stage = await host(by_hand([asking.sync_tool if is_sync else asking.tool], made(*calls)))

    turn, asked = await converse(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert await stage.results() == heard(*calls)
    assert asked == [f"{name}{n}?" for name, times, _ in calls for n in range(times)]
    assert asking.deeds.counts == {name: 1 for name, _, _ in calls}


class Chat(TypedDict, total=False):
    topic: str
    chat: Annotated[list[AnyMessage], add_messages]


@dataclass
class ChatObject:
    topic: str = ""
    chat: Annotated[list[AnyMessage], add_messages] = field(default_factory=list[AnyMessage])


def chatting(state: type[Any], tool: Any, made: list[Any], sent: str) -> Any:
    """A hand-written agent that keeps its messages under a key of its own, or hands its ToolNode the calls alone."""
    message = calls(*made)

    def say(_: Any) -> Any:
        is_message = sent == "message"
        goes: Command[Any] = Command(
            update={"chat": [message if is_message else AIMessage("see what is sent")]},
            goto="tools" if is_message else [Send("tools", message.tool_calls)],
        )
        return goes

    builder: Any = StateGraph(state)
    builder.add_node("say", say).add_node("tools", ToolNode([tool], messages_key="chat"))
    return builder.add_edge(START, "say")


@on_sqlite
@pytest.mark.parametrize("state", [Chat, ChatObject])
@pytest.mark.parametrize("sent", ["message", "calls"])
async def test_calls_keep_their_order_wherever_the_node_takes_them_from(
    host: Host, state: type[Any], sent: str
) -> None:
    made_of: list[tuple[str, int, float]] = [("a", 1, 0.05), ("b", 1, 0), ("c", 2, 0.02)]
    asking = Asking()
    stage = await host(chatting(state, asking.tool, made(*made_of), sent))

    turn, asked = await converse(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert asked == ["a0?", "b0?", "c0?", "c1?"]
    messages = (await stage.values())["chat"]
    results = {one.tool_call_id: one.text for one in messages if isinstance(one, ToolMessage)}
    assert results == heard(*made_of)


@on_sqlite
async def test_two_calls_of_a_message_with_one_id_are_not_taken_for_one(host: Host) -> None:
    deeds = Deeds()
    twice = [("c", "send", {"path": "a"})] * 2
    stage = await host(by_hand([deeds.tool("send")], twice))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert deeds.done == ["send a", "send a"]


async def test_a_crash_between_two_calls_that_ask_keeps_their_answers_apart(host: Host) -> None:
    calls: list[tuple[str, int, float]] = [("a", 2, 0), ("b", 1, 0), ("c", 1, 0)]
    asking = Asking()
    stage = await host(by_hand([asking.tool], made(*calls)))
    turn = await stage.say()
    asked: list[str] = []
    while turn.status == "paused":
        question = shown(turn.request)["question"]
        asked.append(question)
        await stage.close()
        settled = await stage.answer(turn.request, {"answer": question.upper()})
        assert settled.run is not None
        await stage.dying()
        await stage.start()
        turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done", turn.error
    assert asked == ["a0?", "a1?", "b0?", "c0?"]
    assert await stage.results() == heard(*calls)
    assert asking.deeds.counts == {"a": 1, "b": 1, "c": 1}


@on_sqlite
async def test_slow_calls_run_side_by_side_the_first_time(host: Host) -> None:
    together = asyncio.Barrier(3)

    @tool
    async def meet(name: str) -> str:
        """Return when all three are here."""
        async with asyncio.timeout(SECONDS):
            await together.wait()
        return name

    stage = await host(by_hand([meet], [(f"c{n}", "meet", {"name": str(n)}) for n in range(3)]))
    turn = await stage.say()
    assert turn.status == "done"
    assert await stage.results() == {"c0": "0", "c1": "1", "c2": "2"}


@on_sqlite
async def test_a_sibling_of_a_call_that_asks_ends_and_is_recorded(host: Host) -> None:
    deeds = Deeds()
    asked = asyncio.Event()

    @tool
    async def slow(path: str) -> str:
        """End after the other one has asked."""
        async with asyncio.timeout(SECONDS):
            await asked.wait()
        await asyncio.sleep(0.02)
        deeds.note("slow")
        return "slow"

    @tool
    async def fast(path: str) -> str:
        """Ask at once."""
        asked.set()
        return ask.clarification("which?")

    stage = await host(by_hand([slow, fast], [("c1", "fast", {"path": ""}), ("c2", "slow", {"path": ""})]))
    turn = await stage.say()
    assert deeds.done == ["slow"]

    turn = await stage.tell(turn.request, "this")

    assert turn.status == "done"
    assert deeds.done == ["slow"]
    assert await stage.results() == {"c1": "this", "c2": "slow"}


@on_sqlite
@pytest.mark.parametrize("handle", [True, "it broke", ValueError])
async def test_calls_that_fail_among_calls_that_ask_keep_the_positions(host: Host, handle: Any) -> None:
    @tool
    async def fail(name: str) -> str:
        """Ask, then fail."""
        raise ValueError(ask.clarification(f"{name}?"))

    @tool
    async def tell(name: str) -> str:
        """Ask."""
        return ask.clarification(f"{name}?")

    made = [("c1", "fail", {"name": "a"}), ("c2", "tell", {"name": "b"}), ("c3", "fail", {"name": "c"})]
    stage = await host(by_hand([fail, tell], made, handle_tool_errors=handle))

    turn, asked = await converse(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert asked == ["a?", "b?", "c?"]
    results = await stage.results()
    assert results["c2"] == "B?"
    assert ("A?" in results["c1"] and "C?" in results["c3"]) or handle == "it broke"


@on_sqlite
async def test_approvals_around_calls_that_ask_keep_the_positions(host: Host) -> None:
    asking = Asking()
    gate = InterlockMiddleware({"work": True})
    calls: list[tuple[str, int, float]] = [("a", 1, 0), ("b", 2, 0), ("c", 0, 0)]
    stage = await host(by_hand([asking.tool], made(*calls), awrap_tool_call=gate.awrap_tool_call))
    turn = await stage.say()
    async with asyncio.timeout(SECONDS):
        while turn.status == "paused":
            request = turn.request
            is_approval = request.kind is RequestKind.APPROVAL
            answer = {"decision": "accept"} if is_approval else {"answer": shown(request)["question"].upper()}
            turn = await stage.reply(request, answer)

    assert turn.status == "done", turn.error
    assert await stage.results() == heard(*calls)
    assert asking.deeds.counts == {"a": 1, "b": 1, "c": 1}
