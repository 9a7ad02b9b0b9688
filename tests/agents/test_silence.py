"""What LangGraph's serializer made, without the values that people gave: and still what it was."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command, Interrupt, Send
from pydantic import BaseModel

from interlock.agents.silence import Silence
from interlock.domain.redaction import Redaction

pytestmark = pytest.mark.promise("P13")

VALUE = "sk-Zq81mVx0é9Lr7TbW2k"
SERDE = JsonPlusSerializer(allowed_msgpack_modules=True)


class Login(BaseModel):
    user: str
    password: str
    tries: int = 3


@dataclass
class Session:
    headers: dict[str, str]
    raw: bytes


class Pair(NamedTuple):
    name: str
    value: str


def quiet(*values: str) -> Silence:
    return Silence(Redaction(values), Redaction(wholes=values))


def stored(value: Any, *values: str) -> tuple[bytes, Any]:
    kind, data = SERDE.dumps_typed(value)
    kept = quiet(*(values or (VALUE,))).pack(kind, data)
    return kept, SERDE.loads_typed((kind, kept))


CASES: dict[str, tuple[Any, Any]] = {
    "text": (f"Bearer {VALUE}", "Bearer ***"),
    "bytes": (VALUE.encode(), b"***"),
    "bytes inside": ({"raw": VALUE.encode()}, {"raw": b"***"}),
    "tuple": ((VALUE, 1, None, 2.5), ["***", 1, None, 2.5]),
    "set": ({VALUE}, {"***"}),
    "key": ({VALUE: 1, 7: VALUE}, {"***": 1, 7: "***"}),
    "model": (Login(user="ann", password=VALUE), Login(user="ann", password="***")),
    "dataclass": (Session({"authorization": VALUE}, VALUE.encode()), Session({"authorization": "***"}, b"***")),
    "named tuple": (Pair("key", VALUE), Pair("key", "***")),
    "models in a list": ([Login(user=VALUE, password="x")], [Login(user="***", password="x")]),
    "send": (Send("tools", {"token": VALUE}), Send("tools", {"token": "***"})),
    "command": (Command(update={"token": VALUE}), Command(update={"token": "***"}, goto=[])),
    "message": (
        ToolMessage("ok", tool_call_id="c", artifact=[VALUE], additional_kwargs={"raw": VALUE}),
        ToolMessage("ok", tool_call_id="c", artifact=["***"], additional_kwargs={"raw": "***"}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_taken_out_of_what_is_stored_wherever_it_stands(name: str) -> None:
    given, expected = CASES[name]
    kept, loaded = stored(given)
    assert VALUE.encode() not in kept
    assert loaded == expected
    assert type(loaded) is type(expected)


def test_what_holds_no_value_stays_byte_for_byte() -> None:
    kind, data = SERDE.dumps_typed([HumanMessage("hello", id="1"), {"n": 1.5}, (1, 2)])
    assert quiet(VALUE).pack(kind, data) is data
    assert Silence().pack(kind, data) is data


def test_arguments_of_calls_and_asks_stay_as_they_are() -> None:
    call: Any = {"name": "send", "args": {"key": VALUE}, "id": "c1", "type": "tool_call"}
    given = [AIMessage(VALUE, tool_calls=[call], id="m"), Send("tools", {"tool_call": call}), Interrupt(VALUE, id="i")]
    _, (message, send, interrupt) = stored(given)
    assert message == AIMessage("***", tool_calls=[call], id="m")
    assert send.arg["tool_call"] == call
    assert interrupt.value == VALUE


def test_a_value_that_is_a_common_word_leaves_classes_and_fields_as_they_are() -> None:
    _, loaded = stored(Login(user="password", password="password"), "password", "tests.agents.test_silence")
    assert loaded == Login(user="***", password="***")


def test_a_graph_keeps_the_words_of_a_value() -> None:
    _, loaded = stored({"environment": "production", "pin": "1234", "id": "12345"}, "key-for-production", "1234")
    assert loaded == {"environment": "production", "pin": "***", "id": "12345"}


def test_of_an_error_no_part_is_kept() -> None:
    group = ExceptionGroup("unhandled", [ValueError(f"bad key {VALUE[:14]}")])
    for error in (group, UnicodeEncodeError("ascii", VALUE, 11, 12, "not in range")):
        kept = repr(quiet(VALUE).error(error))
        assert "***" in kept
        assert VALUE[:8] not in kept
    plain = ValueError("nothing of it")
    assert quiet(VALUE).error(plain) is plain
