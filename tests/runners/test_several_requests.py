"""Several interrupts: at once, in subgraphs, in sequence, in a loop. Each is a request of its own."""

import asyncio
import operator
from typing import Annotated, Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.domain.errors import AlreadySettled
from interlock.domain.kinds import ClarificationAnswer
from interlock.domain.request import PauseStatus, RequestStatus
from tests.runners.conftest import Host
from tests.runners.script import fan, line
from tests.runners.stage import BOB
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P2")


class Said(TypedDict, total=False):
    topic: str
    said: Annotated[list[str], operator.add]


def left(state: Said) -> Said:
    return {"said": [f"left {interrupt('left?')}"]}


def right(state: Said) -> Said:
    return {"said": [f"right {interrupt('right?')}"]}


async def test_nodes_side_by_side_are_resumed_once_when_the_last_request_is_settled(host: Host) -> None:
    entered: list[str] = []

    def third(state: Said) -> Said:
        entered.append("third")
        return {"said": [f"third {interrupt('third?')}"]}

    stage = await host(fan(Said, left, right, third))
    turn = await stage.say()
    asked = {shown(request)["question"]: request for request in turn.requests}
    assert set(asked) == {"left?", "right?", "third?"}
    assert len({request.interrupt_id for request in turn.requests}) == 3
    assert len({request.pause_id for request in turn.requests}) == 1

    for question, still_open in (("third?", 2), ("left?", 1)):
        settled = await stage.answer(asked[question], {"answer": question.upper()})
        assert settled.run is None
        assert len(await stage.open_requests()) == still_open
    assert entered == ["third"]
    turn = await stage.tell(asked["right?"], "RIGHT?")

    assert turn.status == "done"
    assert sorted((await stage.values())["said"]) == ["left LEFT?", "right RIGHT?", "third THIRD?"]
    assert entered == ["third", "third"]


async def test_a_cancelled_sibling_does_not_take_the_others_answers_along(host: Host) -> None:
    stage = await host(fan(Said, left, right))
    turn = await stage.say()
    asked = {shown(request)["question"]: request for request in turn.requests}
    await stage.answer(asked["left?"], {"answer": "yes"})

    turn = await stage.reply(asked["right?"], None)

    assert turn.status == "not_answered"
    assert await stage.open_requests() == []


async def test_questions_in_sequence_in_one_node_are_told_apart(host: Host) -> None:
    def node(state: Said) -> Said:
        return {"said": [f"{interrupt('name?')} {interrupt('town?')} {interrupt('name?')}"]}

    stage = await host(line(Said, node))
    turn = await stage.say()
    ids: list[str | None] = []
    for question, text in (("name?", "Ann"), ("town?", "Oslo"), ("name?", "Bob")):
        assert shown(turn.request)["question"] == question
        ids.append(turn.request.interrupt_id)
        turn = await stage.tell(turn.request, text)

    assert turn.status == "done"
    assert (await stage.values())["said"] == ["Ann Oslo Bob"]
    assert len(set(ids)) == 3


async def test_the_same_question_in_a_loop_is_asked_each_time(host: Host) -> None:
    def ask(state: Said) -> Said:
        return {"said": [interrupt("more?")]}

    def again(state: Said) -> str:
        return "ask" if state.get("said", [])[-1] == "yes" else "__end__"

    builder = line(Said, ask)
    builder.add_conditional_edges("ask", again)
    stage = await host(builder)
    turn = await stage.say()
    seen = {turn.request.id}
    for text in ("yes", "yes"):
        turn = await stage.tell(turn.request, text)
        assert turn.status == "paused"
        seen.add(turn.request.id)
    turn = await stage.tell(turn.request, "enough")

    assert turn.status == "done"
    assert len(seen) == 3
    assert (await stage.values())["said"] == ["yes", "yes", "enough"]


async def test_interrupts_in_subgraphs_are_answered_where_they_were_raised(host: Host) -> None:
    def inner_first(state: Said) -> Said:
        return {"said": [f"inner {interrupt('inner?')}"]}

    inner = line(Said, inner_first).compile()
    deeper = line(Said, inner_first).compile()
    builder: Any = fan(Said, left)
    builder.add_node("sub", inner).add_edge("__start__", "sub").add_edge("sub", "__end__")

    async def calls(state: Said) -> Said:
        return {"said": (await deeper.ainvoke({"topic": "x"}))["said"]}

    builder.add_node("calls", calls).add_edge("__start__", "calls").add_edge("calls", "__end__")
    stage = await host(builder)
    turn = await stage.say()
    assert sorted(shown(request)["question"] for request in turn.requests) == ["inner?", "inner?", "left?"]
    assert len({request.interrupt_id for request in turn.requests}) == 3
    for number, request in enumerate(turn.requests[:-1]):
        await stage.answer(request, {"answer": str(number)})

    turn = await stage.tell(turn.requests[-1], "2")

    assert turn.status == "done"
    said = (await stage.values())["said"]
    assert sorted(text.split()[1] for text in said) == ["0", "1", "2"]


async def test_a_second_answer_is_told_who_won_and_reaches_nothing(host: Host) -> None:
    def node(state: Said) -> Said:
        return {"said": [f"{interrupt('delete staging?')} {interrupt('delete PRODUCTION?')}"]}

    stage = await host(line(Said, node))
    first = (await stage.say()).request
    turn = await stage.tell(first, "yes")
    second = turn.request

    with pytest.raises(AlreadySettled) as refused:
        await stage.answer(first, {"answer": "yes"}, by=BOB)

    assert refused.value.end.by == "ann"
    assert refused.value.end.answer == ClarificationAnswer("yes")
    assert [request.id for request in await stage.open_requests()] == [second.id]
    assert "said" not in await stage.values() or (await stage.values())["said"] == []
    turn = await stage.tell(second, "later")
    assert (await stage.values())["said"] == ["yes later"]


@pytest.mark.parametrize("nodes", ["one", "two"])
async def test_simultaneous_answers_to_one_question_never_answer_the_next(host: Host, nodes: str) -> None:
    def both(state: Said) -> Said:
        return {"said": [f"{interrupt('delete staging?')} {interrupt('delete PRODUCTION?')}"]}

    def staging(state: Said) -> Said:
        return {"said": [interrupt("delete staging?")]}

    def production(state: Said) -> Said:
        return {"said": [interrupt("delete PRODUCTION?")]}

    stage = await host(line(Said, both) if nodes == "one" else line(Said, staging, production))
    turn = await stage.say()
    answers = [stage.answer(turn.request, {"answer": "yes"}) for _ in range(10)]
    told = await asyncio.gather(*answers, return_exceptions=True)
    (won,) = [one for one in told if not isinstance(one, BaseException)]
    assert [type(one) for one in told if isinstance(one, BaseException)] == [AlreadySettled] * 9
    assert won.run is not None

    turn = await stage.ended(won.run, won.seq)

    assert turn.status == "paused"
    assert shown(turn.request)["question"] == "delete PRODUCTION?"
    assert turn.request.status is RequestStatus.PENDING
    assert len(await stage.pauses(PauseStatus.CONSUMED)) == 1


async def test_an_expired_question_takes_no_late_answer(host: Host) -> None:
    stage = await host(line(Said, left))
    turn = await stage.say()
    turn_again = await stage.reply(turn.request, None)
    assert turn_again.status == "not_answered"

    with pytest.raises(AlreadySettled) as refused:
        await stage.answer(turn.request, {"answer": "yes"})

    assert refused.value.end.status is RequestStatus.CANCELLED
