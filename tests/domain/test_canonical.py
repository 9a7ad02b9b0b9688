"""One spelling per value, with the floats that JSON does not have."""

import json
from typing import Any, NoReturn

import pytest
from pydantic import BaseModel

from interlock.domain.canonical import action_digest, canonical_json, json_text, plain

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
