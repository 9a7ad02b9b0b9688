"""What answers a request of each kind, and what does not: every wrong field is named, with a code."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.errors import FieldError, InvalidAnswer, InvalidInput, ReadsAsRefusal
from interlock.domain.kinds import (
    ApprovalAnswer,
    ApprovalBody,
    Body,
    ClarificationAnswer,
    ClarificationBody,
    DecisionAnswer,
    DecisionBody,
    EnvVarAnswer,
    EnvVarBody,
    QuestionsAnswer,
    QuestionsBody,
    RequestKind,
    body_from_json,
    read_ask,
    value_from_json,
)
from interlock.domain.kinds.approval import APPROVAL_DECISIONS
from interlock.domain.kinds.env_var import LONGEST_VALUE
from interlock.domain.kinds.fields import CUSTOM
from interlock.domain.redaction import HIDDEN

DELETE = ApprovalBody.ask("delete_file", {"path": "a.txt"})
ONLY_YES_OR_NO = ApprovalBody.ask("delete_file", {"path": "a.txt"}, allowed=["accept", "reject"])
WHERE = ClarificationBody.ask("Where to?", ["staging", "production"])
ONE_OF_TWO = ClarificationBody.ask("Where to?", ["staging", "production"], allow_custom=False, default="staging")
RELEASE = DecisionBody.ask("Release?", ["now", {"key": "later", "label": "Later", "style": "danger"}], default="now")
KEYS = EnvVarBody.ask(["API_KEY", {"name": "REGION", "required": False, "sensitive": False}])
KEPT_NOWHERE = EnvVarBody.ask(["API_KEY"], allow_save=False)
QUESTIONS = QuestionsBody.ask(
    [
        {"question": "Colour?", "options": ["red", {"label": "Other", "value": CUSTOM, "allow_custom": True}]},
        {"question": "Size?", "options": ["s", "m"]},
        "Why?",
    ]
)
BODIES: list[Body] = [
    *(DELETE, ONLY_YES_OR_NO, WHERE, ONE_OF_TWO, RELEASE, KEYS, KEPT_NOWHERE, QUESTIONS),
    ClarificationBody.of_free({"question": "Go on?", "options": ["yes"], "more": [1]}),
]

TAKEN: list[tuple[Body, dict[str, Any], Any]] = [
    (DELETE, {"decision": "accept"}, ApprovalAnswer("accept")),
    (DELETE, {"decision": "accept", "args": {"path": "a.txt"}}, ApprovalAnswer("accept")),
    (DELETE, {"decision": "reject", "message": "no"}, ApprovalAnswer("reject", message="no")),
    (DELETE, {"decision": "reject", "message": 7, "args": {"path": "b"}}, ApprovalAnswer("reject")),
    (DELETE, {"decision": "edit", "args": {"path": "b.txt"}}, ApprovalAnswer("edit", {"path": "b.txt"})),
    (DELETE, {"decision": "edit", "args": {}}, ApprovalAnswer("edit", {})),
    (DELETE, {"decision": "response", "message": "done"}, ApprovalAnswer("response", message="done")),
    (WHERE, {"answer": "staging"}, ClarificationAnswer("staging")),
    (WHERE, {"answer": " my laptop "}, ClarificationAnswer(" my laptop ")),
    (ONE_OF_TWO, {"answer": "production"}, ClarificationAnswer("production")),
    (RELEASE, {"decision": "now"}, DecisionAnswer("now")),
    (RELEASE, {"decision": "later", "reason": "Friday"}, DecisionAnswer("later", "Friday")),
    (KEYS, {"values": {"API_KEY": "k"}}, EnvVarAnswer({"API_KEY": "k"})),
    (KEYS, {"values": {"API_KEY": "k", "REGION": ""}, "save": True}, EnvVarAnswer({"API_KEY": "k"}, save=True)),
    (KEPT_NOWHERE, {"values": {"API_KEY": "k"}, "save": True}, EnvVarAnswer({"API_KEY": "k"}, save=False)),
    (QUESTIONS, {"answers": ["blue", "m", "because"]}, QuestionsAnswer(("blue", "m", "because"))),
]


@pytest.mark.parametrize(("body", "given_answer", "value"), TAKEN)
def test_an_answer_is_taken_in_one_shape(body: Body, given_answer: dict[str, Any], value: Any) -> None:
    answer = body.check(given_answer)
    assert answer == value
    assert value_from_json(body.kind, answer.to_json()) == value


REFUSED: list[tuple[Body, dict[str, Any], list[tuple[str, str]]]] = [
    (DELETE, {}, [("decision", "unknown")]),
    (DELETE, {"decision": True}, [("decision", "unknown")]),
    (DELETE, {"decision": "ACCEPT"}, [("decision", "unknown")]),
    (DELETE, {"decision": "accept", "args": {"path": "b.txt"}}, [("args", "not_allowed")]),
    (DELETE, {"decision": "accept", "args": {}}, [("args", "not_allowed")]),
    (DELETE, {"decision": "edit"}, [("args", "not_an_object")]),
    (DELETE, {"decision": "edit", "args": ["a.txt"]}, [("args", "not_an_object")]),
    (DELETE, {"decision": "edit", "args": {"n": [2**64]}}, [("args.n[0]", "too_large")]),
    (DELETE, {"decision": "response", "message": "  "}, [("message", "empty")]),
    (ONLY_YES_OR_NO, {"decision": "edit", "args": {}}, [("decision", "not_allowed")]),
    (WHERE, {}, [("answer", "empty")]),
    (WHERE, {"answer": "\n"}, [("answer", "empty")]),
    (WHERE, {"answer": CUSTOM}, [("answer", "empty")]),
    (WHERE, {"answer": ["staging"]}, [("answer", "empty")]),
    (ONE_OF_TWO, {"answer": "Staging"}, [("answer", "not_offered")]),
    (RELEASE, {}, [("decision", "not_offered")]),
    (RELEASE, {"decision": "Later"}, [("decision", "not_offered")]),
    (RELEASE, {"decision": "now", "reason": 1}, [("reason", "not_text")]),
    (KEYS, {"values": "API_KEY=k"}, [("values", "not_an_object")]),
    (KEYS, {"values": {"REGION": 1, "x": "y"}},
     [("values.API_KEY", "missing"), ("values.REGION", "not_text"), ("values.x", "not_asked")]),
    (KEYS, {"values": {"API_KEY": "k" * (LONGEST_VALUE + 1)}}, [("values.API_KEY", "too_long")]),
    (KEYS, {"values": {"API_KEY": "k"}, "save": "yes"}, [("save", "not_a_boolean")]),
    (QUESTIONS, {"answers": "red"}, [("answers", "not_a_list")]),
    (QUESTIONS, {"answers": ["red", "m"]}, [("answers", "count")]),
    (QUESTIONS, {"answers": [CUSTOM, "xl", 3]},
     [("answers[0]", "empty"), ("answers[1]", "not_offered"), ("answers[2]", "not_text")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "given_answer", "errors"), REFUSED)
def test_every_wrong_field_is_named(body: Body, given_answer: dict[str, Any], errors: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidAnswer) as raised:
        body.check(given_answer)
    assert [(error.field, error.code) for error in raised.value.errors] == errors


@pytest.mark.parametrize("allowed", [["accept"], ["edit"], ["response", "accept"]])
def test_refusing_is_always_possible(allowed: list[str]) -> None:
    body = ApprovalBody.ask("pay", {}, allowed=allowed)
    assert body.check({"decision": "reject"}) == ApprovalAnswer("reject")
    assert {decision for decision in APPROVAL_DECISIONS if body.takes(decision)} == {*allowed, "reject"}


@pytest.mark.parametrize(
    ("before", "given_args", "after"),
    [
        ({"n": 4200.0, "to": "a"}, {"n": 4200, "to": "b"}, {"n": 4200.0, "to": "b"}),
        ({"n": 4200.0}, {"n": 42}, {"n": 42}),
        ({"n": 1.0, "m": 0.0}, {"n": True, "m": False}, {"n": True, "m": False}),
        ({"deep": {"list": [1.0, 2, {"x": 3.0}]}}, {"deep": {"list": [1, 2, {"x": 3}]}}, None),
        ({"list": [1.0, 2.0, 3]}, {"list": [2, 3]}, {"list": [2.0, 3]}),
    ],
)
def test_a_number_that_an_edit_leaves_as_it_was_keeps_its_type(
    before: dict[str, Any], given_args: dict[str, Any], after: dict[str, Any] | None
) -> None:
    answer = ApprovalBody.ask("pay", before).check({"decision": "edit", "args": given_args})
    assert repr(answer.args) == repr(before if after is None else after)


def test_only_an_accept_or_an_edit_runs_the_call() -> None:
    assert [decision for decision in APPROVAL_DECISIONS if ApprovalAnswer(decision).runs] == ["accept", "edit"]


FREE: list[tuple[Any, Any]] = [
    (False, False),
    (None, None),
    ({"approved": True}, {"approved": True}),
    ("go on", "go on"),
    ({"text": "no"}, "no"),
    ({"json": {"text": "no"}}, {"text": "no"}),
    ("no way", ReadsAsRefusal),
    ("", InvalidAnswer),
    ({"text": 1}, InvalidAnswer),
    ([1, {"n": -(2**63) - 1}], InvalidAnswer),
]


@pytest.mark.parametrize(("answer", "value"), FREE)
def test_a_free_interrupt_takes_json_and_no_text_that_reads_as_a_refusal(answer: Any, value: Any) -> None:
    body = ClarificationBody.of_free("Go on?")
    if isinstance(value, type) and issubclass(value, Exception):
        with pytest.raises(value):
            body.check_free({"answer": answer})
    else:
        assert body.check_free({"answer": answer}) == ClarificationAnswer(value)


def test_a_free_interrupt_is_not_answered_by_nothing() -> None:
    with pytest.raises(InvalidAnswer):
        ClarificationBody.of_free("Go on?").check_free({})


def test_an_option_that_reads_as_a_refusal_can_be_chosen() -> None:
    body = ClarificationBody.of_free({"question": "Go on?", "options": ["yes", "no"]})
    assert body.check_free({"answer": "no"}) == ClarificationAnswer("no")


def test_at_the_deadline_only_what_the_ask_named_is_answered() -> None:
    assert [body.default() for body in BODIES] == [
        *(None, None, None, ClarificationAnswer("staging"), DecisionAnswer("now"), None, None, None, None)
    ]


@pytest.mark.parametrize("risk", ["low", "medium", "high", "critical"])
def test_a_yes_to_a_risky_call_needs_a_code_and_a_no_never(risk: str) -> None:
    body = ApprovalBody.ask("pay", {}, risk_level=risk)
    needing = [decision for decision in APPROVAL_DECISIONS if body.needs_code({"decision": decision})]
    assert needing == (["accept", "edit"] if risk in ("high", "critical") else [])


def test_a_dangerous_option_needs_a_code() -> None:
    assert [RELEASE.needs_code({"decision": key}) for key in ("now", "later", "other")] == [False, True, False]


def test_readers_see_that_there_is_a_secret_and_not_which() -> None:
    answer = EnvVarAnswer({"REGION": "eu"}, save=True, handles={"API_KEY": "handle-1"})
    assert answer.readable().to_json() == {"values": {"REGION": "eu", "API_KEY": HIDDEN}, "save": True}
    assert KEYS.sensitive == {"API_KEY"}


def test_a_decision_is_read_from_one_text() -> None:
    assert RELEASE.split("later: it is Friday") == {"decision": "later", "reason": "it is Friday"}
    assert RELEASE.split("now") == {"decision": "now"}
    assert RELEASE.split("never: mind") == {"decision": "never: mind"}
    assert DecisionBody.ask("Which?", ["a: b", "a"]).split("a: b") == {"decision": "a: b"}


ASKS: list[tuple[RequestKind, dict[str, Any], list[tuple[str, str]]]] = [
    (RequestKind.APPROVAL, {"tool_name": " ", "risk_level": "huge", "allowed": ["maybe"]},
     [("tool_name", "empty"), ("risk_level", "unknown"), ("allowed", "unknown")]),
    (RequestKind.CLARIFICATION, {"question": "", "allow_custom": False},
     [("question", "empty"), ("options", "empty")]),
    (RequestKind.CLARIFICATION, {"question": "?", "options": ["a"], "allow_custom": False, "default_answer": "b"},
     [("default_answer", "not_offered")]),
    (RequestKind.DECISION, {"title": "?", "options": ["a", "a"], "default": "b"},
     [("options", "repeated"), ("default", "not_offered")]),
    (RequestKind.DECISION, {"title": "?", "options": [3]}, [("options[0]", "not_an_option")]),
    (RequestKind.ENV_VAR, {"fields": []}, [("fields", "empty")]),
    (RequestKind.ENV_VAR, {"fields": ["A", {"name": "A", "sensitive": "no"}]},
     [("fields[1].sensitive", "not_a_boolean"), ("fields", "repeated")]),
    (RequestKind.QUESTIONS, {"questions": [{"question": "?", "options": "ab"}, 1]},
     [("questions[0].options", "not_a_list"), ("questions[1]", "not_a_question")]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "errors"), ASKS)
def test_what_cannot_be_asked_is_said_field_by_field(
    kind: RequestKind, data: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_ask(kind, data)
    assert [(error.field, error.code) for error in raised.value.errors] == errors


@pytest.mark.parametrize("body", BODIES)
def test_a_body_is_read_back_from_its_json(body: Body) -> None:
    assert body_from_json(body.kind, body.to_json()) == body


texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from(BODIES),
    st.dictionaries(
        st.sampled_from(["decision", "answer", "answers", "values", "save", "args", "message", "reason"]),
        st.sampled_from(["accept", "edit", "now", "staging", "red", ["red", "m", "x"], {"API_KEY": "k"}]) | json_values,
        max_size=4,
    ),
)
def test_whatever_is_given_is_taken_in_one_shape_or_refused_with_its_fields(
    body: Body, answer: Mapping[str, Any]
) -> None:
    taken = None
    errors: Sequence[FieldError] = ()
    try:
        taken = body.check(answer)
    except InvalidAnswer as error:
        errors = error.errors
    assert (taken is None) == bool(errors)
    if taken is not None:
        assert value_from_json(body.kind, taken.to_json()) == taken
        # What was taken is an answer itself: taking it again changes nothing.
        assert body.check(taken.to_json()) == taken
