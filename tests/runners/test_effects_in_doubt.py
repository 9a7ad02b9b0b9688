"""A tool that was cut short: nobody knows whether it took effect, so a person says what to do."""

import json
import re
from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.effect import EffectState
from interlock.domain.kinds import RequestKind
from interlock.domain.request import PauseOrigin, PauseStatus
from interlock.langchain import InterlockMiddleware
from interlock.services.requests.answering import expire_due
from interlock.services.runs.effects import find_doubtful
from interlock.services.runs.lifecycle import RunLog
from interlock.services.threads.messages import StartedRun
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, by_hand, line, script
from tests.runners.stage import Stage, Turn
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6")

ONE = [("c1", "send", {"path": "a"})]


class Cut:
    """A tool that does its deed and is cut short before it can say so."""

    def __init__(self) -> None:
        self.deeds, self.gate = Deeds(), Gate()

        @tool
        async def send(path: str) -> str:
            """Send."""
            self.deeds.note(f"send {path}")
            await self.gate.stop()
            return f"sent {path}"

        self.tool = send


@pytest.fixture
async def cut() -> Cut:
    return Cut()


async def cut_short(stage: Stage, cut: Cut) -> Turn:
    """Kill the worker inside the tool; a new one asks what to do."""
    started = await stage.send()
    mortal = await stage.mortal()
    await cut.gate.until_reached()
    await mortal.kill()
    return await recovered(stage, started)


@on_sqlite
async def test_whoever_is_asked_reads_it_in_their_language(host: Host, cut: Cut) -> None:
    stage = await host(agent([cut.tool], [("c1", "send", {"path": "a"})]), started=False)
    turn = await cut_short(stage, cut)
    english, chinese = (turn.request.body.in_language(language).to_json() for language in ("en", "zh"))
    assert english["title"] == "send was cut short: did it take effect?"
    assert chinese["title"].startswith("send 执行中断")
    assert [option["key"] for option in english["options"]] == [option["key"] for option in chinese["options"]]
    assert turn.request.body.in_language(None).to_json() == chinese
    assert not re.search(r"[\u4e00-\u9fff]", json.dumps(english, ensure_ascii=False))


async def recovered(stage: Stage, started: StartedRun) -> Turn:
    await stage.start()
    return await stage.ended(started.run, started.seq)


@pytest.mark.parametrize("kind", ["agent", "by_hand"])
@pytest.mark.parametrize(
    ("value", "times", "result"),
    [
        ({"decision": "retry"}, 2, "sent a"),
        ({"decision": "skip"}, 1, "Skipped: it was cut short"),
        ({"decision": "done", "reason": "the log says 250 OK"}, 1, "the log says 250 OK"),
        ({"decision": "done"}, 1, "done"),
        (None, 1, "Nobody said what to do"),
    ],
)
async def test_a_person_decides(host: Host, cut: Cut, kind: str, value: Any, times: int, result: str) -> None:
    graph = agent([cut.tool], ONE) if kind == "agent" else by_hand([cut.tool], ONE)
    stage = await host(graph, started=False)
    turn = await cut_short(stage, cut)
    assert turn.status == "paused"
    assert turn.request.kind is RequestKind.DECISION
    assert [option["key"] for option in shown(turn.request)["options"]] == ["retry", "skip", "done"]
    assert '{"path":"a"}' in shown(turn.request)["description"]
    assert [pause.origin for pause in await stage.pauses(PauseStatus.OPEN)] == [PauseOrigin.EFFECT]
    assert [effect.state for effect in await stage.effects()] == [EffectState.IN_DOUBT]
    assert cut.deeds.done == ["send a"]

    turn = await stage.reply(turn.request, value)

    assert turn.status == "done", turn.error
    assert len(cut.deeds.done) == times
    assert result in (await stage.results())["c1"]
    assert (await stage.messages())[-1].text == "done"
    assert [effect.state for effect in await stage.effects()] == [EffectState.DONE]


@on_sqlite
async def test_an_expired_doubt_is_skipped(host: Host, cut: Cut) -> None:
    stage = await host(agent([cut.tool], ONE), started=False)
    turn = await cut_short(stage, cut)
    assert turn.request.deadline is None
    stage.clock.move(1e7)
    assert await expire_due(stage.core) == 0


async def test_the_answer_that_led_to_the_effect_is_still_sent_after_the_doubt(host: Host, cut: Cut) -> None:
    stage = await host(agent([cut.tool], ONE, middleware=[InterlockMiddleware({"send": True})]), started=False)
    await stage.start()
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"decision": "edit", "args": {"path": "z"}})
    assert settled.run is not None
    mortal = await stage.mortal()
    await cut.gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"

    turn = await stage.reply(turn.request, {"decision": "retry"})

    assert turn.status == "done", turn.error
    assert cut.deeds.done == ["send z", "send z"]
    assert (await stage.results())["c1"].endswith("sent z")


async def test_a_retry_that_is_cut_short_too_is_asked_about_again(host: Host, cut: Cut) -> None:
    stage = await host(agent([cut.tool], ONE), started=False)
    turn = await cut_short(stage, cut)
    await stage.close()
    cut.gate.times = 0
    cut.gate.reached.clear()
    settled = await stage.answer(turn.request, {"decision": "retry"})
    assert settled.run is not None
    mortal = await stage.mortal()
    await cut.gate.until_reached()
    await mortal.kill()
    # The next worker dies as well, after it marked the doubt and before it could ask.
    claim = await stage.claim()
    assert len(await find_doubtful(stage.core, claim.lease, RunLog(stage.core, claim.thread.id, claim.thread.seq))) == 1
    await stage.take_over()

    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused"
    assert cut.deeds.done == ["send a", "send a"]
    turn = await stage.reply(turn.request, {"decision": "skip"})
    assert turn.status == "done"
    assert cut.deeds.done == ["send a", "send a"]


@on_sqlite
async def test_several_effects_in_doubt_are_each_decided_on(host: Host) -> None:
    deeds, gate = Deeds(), Gate()

    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(path)
        await gate.stop(3)
        return f"sent {path}"

    made = [(f"c{n}", "send", {"path": str(n)}) for n in range(3)]
    stage = await host(agent([send], made), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    while len(deeds.done) < 3:
        await gate.until_reached()
        await stage.effects()
    await mortal.kill()
    turn = await recovered(stage, started)
    by_call = {request.call_id: request for request in turn.requests}
    assert set(by_call) == {"c0", "c1", "c2"}
    await stage.answer(by_call["c0"], {"decision": "retry"})
    await stage.answer(by_call["c1"], {"decision": "done", "reason": "one"})

    turn = await stage.reply(by_call["c2"], {"decision": "skip"})

    assert turn.status == "done"
    results = await stage.results()
    assert results["c0"] == "sent 0"
    assert results["c1"] == "one"
    assert results["c2"].startswith("Skipped")
    assert deeds.counts == {"0": 2, "1": 1, "2": 1}


async def test_a_tool_that_asked_is_entered_again_and_is_in_no_doubt(host: Host) -> None:
    gate, entered = Gate(), list[str]()

    @tool
    async def send(path: str) -> str:
        """Send after asking."""
        entered.append(path)
        return f"sent {ask.clarification('to whom?')}"

    stage = await host(agent([send], ONE), started=False)
    await stage.start()
    turn = await stage.say()
    assert [effect.state for effect in await stage.effects()] == [EffectState.WAITING]
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "Bob"})
    assert settled.run is not None
    await stage.dying()
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done"
    assert (await stage.results())["c1"] == "sent Bob"
    assert entered == ["a", "a"]
    assert gate.times == 0


async def test_a_subagent_is_entered_again_and_only_its_tool_is_in_doubt(host: Host, cut: Cut) -> None:
    model = script([("d1", "send", {"path": "x"})], AIMessage("helped"))
    helper = {"name": "helper", "description": "h", "system_prompt": "h", "model": model, "tools": [cut.tool]}
    make = cast("Any", create_deep_agent)
    made = [("t1", "task", {"description": "x", "subagent_type": "helper"})]
    stage = await host(make(model=script(made), tools=[], subagents=[helper]), started=False)
    turn = await cut_short(stage, cut)
    assert shown(turn.request)["description"].startswith("send ")
    states = {effect.tool: effect.state for effect in await stage.effects()}
    assert states == {"task": EffectState.INTENDED, "send": EffectState.IN_DOUBT}

    turn = await stage.reply(turn.request, {"decision": "done", "reason": "it went out"})

    assert turn.status == "done", turn.error
    assert cut.deeds.done == ["send x"]
    assert await stage.results() == {"t1": "helped"}
    assert len(model.heard) == 2


class Inner(TypedDict, total=False):
    topic: str
    heard: Any


@on_sqlite
async def test_a_tool_that_runs_a_graph_is_entered_again_by_a_persons_word_where_the_graph_was(host: Host) -> None:
    gate, entered = Gate(), list[str]()

    async def first(state: Inner) -> Inner:
        entered.append("first")
        return {"heard": "first"}

    async def second(state: Inner) -> Inner:
        entered.append("second")
        await gate.stop()
        return {"heard": f"{state.get('heard')} second"}

    inner = line(Inner, first, second).compile()

    @tool
    async def send(path: str) -> str:
        """Run a graph."""
        return (await inner.ainvoke({"topic": path}))["heard"]

    stage = await host(agent([send], ONE), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()

    turn = await recovered(stage, started)
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"
    turn = await stage.reply(turn.request, {"decision": "retry"})

    assert turn.status == "done", turn.error
    assert (await stage.results())["c1"] == "first second"
    assert entered == ["first", "second", "second"]


@on_sqlite
@pytest.mark.parametrize(
    ("value", "times", "heard"),
    [
        ({"decision": "retry"}, 2, "paid"),
        ({"decision": "done", "reason": "receipt 7"}, 1, "receipt 7"),
        ({"decision": "done", "reason": '{"receipt": 7}'}, 1, "{'receipt': 7}"),
        ({"decision": "done", "reason": '"no"'}, 1, "no"),
        ({"decision": "done", "reason": "false"}, 1, "False"),
        ({"decision": "done"}, 1, "None"),
        ({"decision": "skip"}, 1, "pay was cut short"),
        (None, 1, "pay was cut short"),
    ],
)
async def test_an_effect_of_a_plain_node_is_decided_on_too(host: Host, value: Any, times: int, heard: str) -> None:
    deeds, gate = Deeds(), Gate()

    async def pay() -> str:
        deeds.note("pay")
        await gate.stop()
        return "paid"

    async def node(state: Inner) -> Inner:
        first: Any = interrupt("before?")
        try:
            return {"heard": f"{first}: {await interlock.effect('pay', pay)}"}
        except interlock.EffectSkipped as error:
            return {"heard": f"{first}: {error.reason}"}

    stage = await host(line(Inner, node))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "go"})
    assert settled.run is not None
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)
    assert turn.request.call_id is None

    turn = await stage.reply(turn.request, value)

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"].startswith(f"go: {heard}")
    assert len(deeds.done) == times


@on_sqlite
async def test_an_effect_declared_idempotent_is_simply_done_again(host: Host) -> None:
    deeds, gate = Deeds(), Gate()

    async def pay() -> str:
        deeds.note(interlock.idempotency_key())
        await gate.stop()
        return "paid"

    async def node(state: Inner) -> Inner:
        return {"heard": await interlock.effect("pay", pay, idempotent=True)}

    stage = await host(line(Inner, node), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()

    turn = await recovered(stage, started)

    assert turn.status == "done"
    assert len(deeds.done) == 2
    assert len(set(deeds.done)) == 1
