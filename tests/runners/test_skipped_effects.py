"""An effect of plain code that was cut short and is not run again gives no value: any value might count as a yes."""

from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from sqlalchemy import update
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.effect import SKIPPED_TEXT
from interlock.domain.errors import InvalidAnswer
from interlock.storage.schema import effects
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, line
from tests.runners.stage import Stage, Turn
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6", "P10")


class State(TypedDict, total=False):
    topic: str
    heard: Any


class Guarded:
    """Deletes only where an effect gave something that counts as true; the effect is cut short."""

    def __init__(self) -> None:
        self.deeds, self.gate = Deeds(), Gate()

        @tool
        async def clean() -> str:
            """Delete, if a person agrees."""
            await self.node({})
            return "cleaned"

        self.tool = clean

    async def check(self) -> bool:
        agreed = ask.clarification("Delete PRODUCTION?") == "yes"
        await self.gate.stop()
        return agreed

    async def node(self, state: State) -> State:
        if await interlock.effect("confirm", self.check):
            self.deeds.note("DELETED")
        return {}

    async def cut_short(self, stage: Stage) -> Turn:
        turn = await stage.say()
        await stage.close()
        settled = await stage.answer(turn.request, {"answer": "no"})
        assert settled.run is not None
        mortal = await stage.mortal()
        await self.gate.until_reached()
        await mortal.kill()
        await stage.start()
        return await stage.ended(settled.run, settled.seq)


@pytest.mark.parametrize("word", [{"decision": "skip"}, None])
async def test_what_was_to_happen_if_an_effect_says_yes_does_not_happen_when_it_is_skipped(
    host: Host, word: Any
) -> None:
    guarded = Guarded()
    stage = await host(line(State, guarded.node))
    turn = await guarded.cut_short(stage)
    assert shown(turn.request)["title"].startswith("confirm ")

    turn = await stage.reply(turn.request, word)

    assert turn.status == "failed"
    assert "catch interlock.EffectSkipped" in (turn.error or "")
    assert (await stage.retry()).status == "failed"
    assert guarded.deeds.done == []


@on_sqlite
async def test_what_an_earlier_version_gave_in_place_of_a_skipped_effect_is_no_yes_either(host: Host) -> None:
    guarded = Guarded()
    stage = await host(line(State, guarded.node))
    turn = await stage.reply((await guarded.cut_short(stage)).request, {"decision": "skip"})
    kind, data = JsonPlusSerializer().dumps_typed(SKIPPED_TEXT)
    async with stage.database.write() as connection:
        await connection.execute(update(effects).values(result=kind.encode() + b"\n" + data))

    turn = await stage.retry()

    assert turn.status == "failed"
    assert "EffectSkipped" in (turn.error or "")
    assert guarded.deeds.done == []


async def test_a_tool_whose_effect_is_skipped_stops_there_and_the_model_is_told(host: Host) -> None:
    guarded = Guarded()
    stage = await host(agent([guarded.tool], [("c1", "clean", {})]))
    turn = await guarded.cut_short(stage)
    titles = {shown(request)["title"].split()[0]: request for request in turn.requests}
    assert set(titles) == {"clean", "confirm"}
    await stage.answer(titles["clean"], {"decision": "retry"})

    turn = await stage.reply(titles["confirm"], {"decision": "skip"})

    assert turn.status == "done", turn.error
    told = (await stage.results())["c1"]
    assert told.startswith("Skipped: confirm was cut short")
    assert told.endswith("clean stopped there.")
    assert guarded.deeds.done == []


@on_sqlite
@pytest.mark.parametrize("text", ["no", "No.", "False", "否", "不同意", "cancel", "None", "NaN but no"])
async def test_a_result_that_reads_as_a_refusal_is_not_taken_for_plain_code(host: Host, text: str) -> None:
    guarded = Guarded()
    stage = await host(line(State, guarded.node))
    turn = await guarded.cut_short(stage)

    with pytest.raises(InvalidAnswer, match=r"give false to say no, or .* with its quotes"):
        await stage.answer(turn.request, {"decision": "done", "reason": text})

    turn = await stage.reply(turn.request, {"decision": "done", "reason": "false"})
    assert turn.status == "done", turn.error
    assert guarded.deeds.done == []


@on_sqlite
async def test_a_result_that_no_checkpoint_takes_is_refused(host: Host) -> None:
    guarded = Guarded()
    stage = await host(line(State, guarded.node))
    turn = await guarded.cut_short(stage)
    with pytest.raises(InvalidAnswer, match="64 bits"):
        await stage.answer(turn.request, {"decision": "done", "reason": "[1" + "0" * 30 + "]"})
    assert guarded.deeds.done == []
