"""Edits of calls of agents that run elsewhere: held against what the ask says of the tool's arguments."""

from typing import Any

import pytest

from tests.support.hitl import HitlClient, data_of, wrong_fields

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "maxLength": 20},
        "amount": {"type": "number", "minimum": 0},
        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "account": {"$ref": "https://example.com/schema.json"},
        "by": {"$ref": "#/$defs/Way", "description": "How it is paid."},
    },
    "required": ["to", "amount"],
    "additionalProperties": False,
    "$defs": {"Way": {"type": "object", "properties": {"name": {"type": "string"}, "then": {"$ref": "#/$defs/Way"}}}},
}
ARGS: dict[str, Any] = {"to": "ann", "amount": 5, "account": "Account(7)"}


DOUBLING = {
    f"A{n}": {"type": "string", "properties": {key: {"$ref": f"#/$defs/A{n + 1}"} for key in "ab"}} for n in range(40)
}
"""Each is used twice in the one before: written out there are 2**40."""


def asked(person: HitlClient, schema: Any = SCHEMA, args: Any = ARGS, **more: Any) -> str:
    data = {"tool_name": "pay", "args": args, "tool_schema": schema, **more}
    return person.ask("permission", data)["request_id"]


@pytest.mark.parametrize(
    ("edited", "wrong"),
    [
        ({"to": "bob"}, ["amount"]),
        ({"to": 7, "amount": -1}, ["amount", "to"]),
        ({"to": "bob", "amount": 5, "tags": ["a", 3]}, ["tags.1"]),
        ({"to": "bob", "amount": 5, "note": "x"}, ["note"]),
        ({"to": "bob", "amount": 5, "by": {"name": 7}}, ["by.name"]),
        ({**ARGS, "account": "Account(8)"}, ["account"]),
        ({"to": "bob", "amount": 5}, ["account"]),
    ],
)
def test_an_edit_that_the_tool_would_not_take_is_refused_and_still_waits(
    person: HitlClient, edited: dict[str, Any], wrong: list[str]
) -> None:
    request_id = asked(person, fixed=["account"] if wrong == ["account"] else [])
    refused = person.try_respond(request_id, {"granted": True, "args": edited})
    assert wrong_fields(refused) == [f"response.args.{name}" for name in wrong]
    assert person.look(request_id)["status"] == "pending"


def test_one_that_it_takes_is_taken(person: HitlClient) -> None:
    edited = {"to": "bob", "amount": 0.5, "tags": ["a", None], "account": {"any": "thing"}}
    assert data_of(person.try_respond(asked(person), {"granted": True, "args": edited}))


def test_what_the_program_itself_called_it_with_is_no_part_of_an_edit(person: HitlClient) -> None:
    request_id = asked(person, args={"to": "ann", "amount": "five", "account": 1})
    person.respond(request_id, {"granted": True, "args": {"to": "bob", "amount": "five", "account": 1}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"properties": {"to": {"pattern": "^(a+)+$"}}},
        {"$ref": "#"},
        {"properties": {"to": {"$ref": "#/properties/to"}}},
        {"properties": {"to": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"properties": {"to": {"$ref": "#/$defs/A0"}}, "$defs": DOUBLING},
        {"properties": {"to": {"anyOf": [{"const": number} for number in range(1_000)]}}},
        {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False},
        {"properties": "no object", "required": 7},
    ],
    ids=lambda schema: str(schema)[:60],
)
def test_a_schema_that_is_none_or_costs_too_much_says_nothing(person: HitlClient, schema: dict[str, Any]) -> None:
    edited = {"to": "a" * 40 + "!", "amount": 1}
    person.respond(asked(person, schema), {"granted": True, "args": edited})
