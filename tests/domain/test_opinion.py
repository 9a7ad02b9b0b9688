"""What is told of a call to whoever gives an opinion of it."""

import json

import pytest

from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalBody
from interlock.domain.opinion import LONGEST_CALL, LONGEST_OPINION, opinion_call, opinion_text
from interlock.domain.redaction import Redaction

pytestmark = pytest.mark.promise("P13", "P25")


def told(args: JsonObject, *values: str) -> JsonObject | None:
    call = opinion_call(ApprovalBody.ask("t", args, description="PROSE"), Redaction(values))
    return json.loads(call.arguments) if call else None


@pytest.mark.parametrize(
    ("given", "quiet"),
    [
        ({"db_password": "a", "user": "ann"}, {"db_password": "***", "user": "ann"}),
        (
            {"headers": {"Authorization": "Basic a", "Accept": "b"}},
            {"headers": {"Authorization": "***", "Accept": "b"}},
        ),
        ({"credentials": [{"value": "a"}]}, {"credentials": [{"value": "***"}]}),
        ({"max_tokens": 5, "token": ""}, {"max_tokens": 5, "token": ""}),
        ({"c": "STRIPE_KEY=sk_1 run; ls"}, {"c": "STRIPE_KEY=*** run; ls"}),
        ({"c": 'login --password "a b" ann'}, {"c": "login --password *** ann"}),
        ({"c": '{"api_key": "a b", "n": 1}'}, {"c": '{"api_key": ***, "n": 1}'}),
        ({"c": 'export TOKEN="never ended'}, {"c": "export TOKEN=***"}),
        ({"u": "https://ann:pw@host/x@y"}, {"u": "https://***@host/x@y"}),
        ({"c": "git push origin main"}, {"c": "git push origin main"}),
        ({"deep": ["given-in-confidence"]}, {"deep": ["***"]}),
        ({"n": 471147114711}, {"n": 471147114711}),
    ],
)
def test_what_is_confidential_is_hidden_and_all_else_is_told(given: JsonObject, quiet: JsonObject) -> None:
    assert told(given, "given-in-confidence") == quiet


def test_a_number_that_was_given_in_confidence_is_hidden_too() -> None:
    call = opinion_call(ApprovalBody.ask("t", {"pin": 471147114711}), Redaction(["471147114711"]))
    assert call is not None
    assert "4711" not in call.arguments


def test_a_call_is_told_whole_or_not_at_all() -> None:
    assert told({"text": "x" * LONGEST_CALL}) is None
    # Within the bound, however it is made, it takes no long time to look through.
    assert told({"text": ("secret" * LONGEST_CALL)[: LONGEST_CALL - 100]}) is not None


@pytest.mark.parametrize("given", [None, "", " \n", 5, b"text"])
def test_what_is_no_text_is_no_opinion(given: object) -> None:
    assert opinion_text(given) is None


def test_an_opinion_has_a_bound() -> None:
    text = opinion_text("x" * (LONGEST_OPINION + 1))
    assert text is not None
    assert (len(text), text[-1]) == (LONGEST_OPINION, "…")
