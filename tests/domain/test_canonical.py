"""One spelling per value, with the floats that JSON does not have."""

import json
from typing import Any, NoReturn, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from interlock.domain.canonical import action_digest, canonical_json, digest, json_text, plain

ODD = {"amount": float("nan"), "most": [float("inf"), {"least": float("-inf")}], "plain": 1.5}
WORDS = {"amount": "NaN", "most": ["Infinity", {"least": "-Infinity"}], "plain": 1.5}


class Order(BaseModel):
    amount: float


def no_constant(name: str) -> NoReturn:
    raise AssertionError(f"{name} is no JSON")


def test_floats_that_json_does_not_have_become_words() -> None:
    assert plain(ODD) == WORDS
    for text in (canonical_json(ODD), json_text(ODD, indent=2)):
        assert json.loads(text, parse_constant=no_constant) == WORDS


@pytest.mark.parametrize("args", [ODD, {"order": Order(amount=2.5)}, {"tags": {"x"}}, {"order": Order(amount=1e308)}])
def test_what_is_shown_has_the_digest_of_what_runs(args: dict[str, Any]) -> None:
    assert action_digest("pay", args) == action_digest("pay", plain(args))


def test_the_digest_of_ordinary_arguments_is_that_of_older_versions() -> None:
    of_an_older = "1bcff570ffd40c7035acb2148b06ea7e00740d1a58a7a8401bbc8b190753dcf5"
    assert action_digest("pay", {"to": "bób", "amount": 1.0, "n": None}) == of_an_older


@pytest.mark.parametrize("text", ["a\udc80b", "\ud83d", "\\ud83d \ud83d", "\ud83d\ude00"])
def test_half_a_surrogate_pair_has_the_digest_of_what_a_saver_makes_of_it(text: str) -> None:
    saved = JsonPlusSerializer().loads_typed(JsonPlusSerializer().dumps_typed({"to": [text]}))
    assert "?" in str(saved)
    assert action_digest("pay", {"to": [text]}) == action_digest("pay", saved)


def test_the_spelling_is_that_of_older_versions() -> None:
    value = {"ключ": '😀 \x7f \x00 \n \\ " é', "a": ["\u2028", 1e-7, True], "😀": None, "\uffff": ""}
    assert canonical_json(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


names = st.text(max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def turned(value: Any) -> Any:
    """The same value, with the names of every object in the opposite order."""
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        return {name: turned(given[name]) for name in reversed(given)}
    return [turned(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


@given(values)
def test_a_value_has_one_spelling_whatever_the_order_of_its_names(value: Any) -> None:
    assert canonical_json(turned(value)) == canonical_json(value)
    assert digest(turned(value)) == digest(value)


@given(values)
def test_what_json_can_carry_is_carried_as_it_is(value: Any) -> None:
    carried = plain(value)
    assert plain(carried) == carried
    assert json.loads(canonical_json(value), parse_constant=no_constant) == carried


@given(values, values)
def test_two_values_have_one_digest_only_if_they_have_one_spelling(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) == (canonical_json(one) == canonical_json(other))


@given(names, names, st.dictionaries(names, values, max_size=2))
def test_no_argument_can_look_like_another_tool(tool: str, other: str, args: dict[str, Any]) -> None:
    assert (action_digest(tool, args) == action_digest(other, args)) == (tool == other)
