"""Interrupts with a `response_schema`: the person gives texts, the graph gets what it declared."""

from enum import Enum
from typing import Any, Literal

import pytest
from langgraph.types import interrupt
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from interlock.domain.errors import InvalidAnswer
from interlock.domain.kinds import RequestKind
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import line
from tests.runners.stage import Stage
from tests.support.bodies import shown

pytestmark = on_sqlite


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Order(BaseModel):
    name: str = Field(description="Whom is it for?")
    count: int
    express: bool
    colour: Colour = Colour.RED
    size: Literal["s", "m"] = "s"
    note: str | None = None
    limit: int | None = None


class Heard(TypedDict, total=False):
    topic: str
    heard: Any
    kind: Any


def asking(schema: Any) -> Any:
    def ask(state: Heard) -> Heard:
        heard: Any = interrupt({"question": "tell me"}, response_schema=schema)
        return {"heard": repr(heard), "kind": type(heard).__name__}

    return line(Heard, ask)


async def refused(stage: Stage, request: Any, wrong: Any) -> None:
    with pytest.raises(InvalidAnswer):
        await stage.answer(request, wrong)
    assert [open_one.id for open_one in await stage.open_requests()] == [request.id]


@pytest.mark.parametrize(
    ("schema", "wrong", "right", "heard"),
    [
        (int, "many", "7", "7"),
        (int, "7.5", "0", "0"),
        (bool, "maybe", "false", "False"),
        (str, "", "true", "'true'"),
        (Colour, "green", "blue", "<Colour.BLUE: 'blue'>"),
        (Literal["a", "b"], "c", "b", "'b'"),
        (list[int], "[1, null]", "[1, 2]", "[1, 2]"),
        (int | None, "x", "3", "3"),
        (int | str, "", "text", "'text'"),
        ({"type": "integer", "minimum": 3}, "2", "3", "3"),
    ],
)
async def test_one_value_is_one_question(host: Host, schema: Any, wrong: str, right: str, heard: str) -> None:
    stage = await host(asking(schema))
    turn = await stage.say()
    assert turn.request.kind is RequestKind.CLARIFICATION
    assert shown(turn.request)["question"] == "tell me"
    await refused(stage, turn.request, {"answer": wrong})

    turn = await stage.tell(turn.request, right)

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == heard


async def test_what_may_be_chosen_is_offered(host: Host) -> None:
    stage = await host(asking(Colour), asking(bool))
    turn = await stage.say()
    assert shown(turn.request)["options"] == ["red", "blue"]
    assert shown(turn.request)["allow_custom"] is False


async def test_a_model_is_a_question_for_each_of_its_fields(host: Host) -> None:
    stage = await host(asking(Order))
    turn = await stage.say()
    request = turn.request
    assert request.kind is RequestKind.QUESTIONS
    asked = shown(request)["questions"]
    assert asked[0]["question"] == "Whom is it for?"
    assert [option["value"] for option in asked[2]["options"]] == ["true", "false"]
    assert [option["value"] for option in asked[3]["options"]] == ["red", "blue"]
    await refused(stage, request, {"answers": ["Ann", "two", "true", "blue", "m", "none", "null"]})
    await refused(stage, request, {"answers": ["Ann", "2", "yes", "blue", "m", "none", "null"]})
    await refused(stage, request, {"answers": ["Ann", "2", "true", "green", "m", "none", "null"]})
    await refused(stage, request, {"answers": ["Ann", "2", "true", "blue", "m", "none", "much"]})
    await refused(stage, request, {"answers": ["Ann"]})

    turn = await stage.reply(request, {"answers": ["Ann", "2", "true", "blue", "m", "7", "7"]})

    assert turn.status == "done", turn.error
    values = await stage.values()
    assert values["kind"] == "Order"
    expected = Order(name="Ann", count=2, express=True, colour=Colour.BLUE, size="m", note="7", limit=7)
    assert values["heard"] == repr(expected)


async def test_nobody_answering_a_schema_ends_the_run(host: Host) -> None:
    stage = await host(asking(Order))
    turn = await stage.say()

    turn = await stage.reply(turn.request, None)

    assert turn.status == "not_answered"


async def test_all_of_the_value_is_shown_beside_the_form(host: Host) -> None:
    value = {"question": "Send it?", "draft": {"to": "bob"}, "options": ["these are the graph's own"]}

    def ask(state: Heard) -> Heard:
        return {"heard": interrupt(value, response_schema=Order)}

    stage = await host(line(Heard, ask))
    body = shown((await stage.say()).request)
    assert body["title"] == "Send it?"
    assert body["details"] == {"draft": {"to": "bob"}, "options": ["these are the graph's own"]}
    assert body["value"] == value


EITHER: Any = {"anyOf": [{"type": "boolean"}, {"type": "string"}]}


@pytest.mark.parametrize(
    ("text", "heard"), [("false", "False"), ("True", "True"), ("use a smaller one", "'use a smaller one'")]
)
async def test_where_a_boolean_or_a_text_will_do_false_is_the_boolean(host: Host, text: str, heard: str) -> None:
    stage = await host(asking(EITHER))
    turn = await stage.say()
    await refused(stage, turn.request, {"answer": "no, thanks"})

    turn = await stage.tell(turn.request, text)

    assert (await stage.values())["heard"] == heard


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999", "1" * 40, "[" * 100_000])
async def test_what_is_no_number_of_json_fits_no_schema(host: Host, text: str) -> None:
    stage = await host(
        asking({"type": ["number", "array"], "maximum": 100} if text != "1" * 40 else {"type": "integer"})
    )
    turn = await stage.say()
    await refused(stage, turn.request, {"answer": text})
