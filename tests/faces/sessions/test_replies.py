"""How the arguments of a reply are read: what names a request, and what is wrapped."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.domain.kinds import ApprovalBody
from interlock.faces.sessions.replies import ReplyInput, choose
from interlock_client.sessions import ResponseType
from tests.conformance.examples import a_request

ID = "perm_0123456789abcdef"
BODY = ApprovalBody.ask("tool", {"x": 1})


@pytest.mark.parametrize(
    ("how", "args", "named", "left"),
    [
        ("accept", None, None, {}),
        ("accept", {"request_id": ID}, ID, {}),
        ("accept", {"request_id": "anything"}, "anything", {}),
        ("response", {"request_id": ID, "args": "x"}, ID, {"args": "x"}),
        ("edit", {"request_id": ID, "x": 1}, ID, {"x": 1}),
        ("edit", {"request_id": "anything", "args": {"x": 1}}, "anything", {"args": {"x": 1}}),
        ("edit", {"request_id": "4711", "x": 1}, None, {"request_id": "4711", "x": 1}),
        ("edit", {"args": {"request_id": ID}}, None, {"args": {"request_id": ID}}),
        ("edit", {"request_id": 7}, None, {"request_id": 7}),
    ],
)
def test_a_request_is_named_beside_the_arguments(
    how: ResponseType, args: Any, named: str | None, left: dict[str, Any]
) -> None:
    said = ReplyInput.of(how, args)
    assert (said.request_id, said.args) == (named, left)


@pytest.mark.parametrize(
    ("known", "args", "meant"),
    [
        (frozenset({"x"}), {"args": {"x": 2}}, {"x": 2}),
        (frozenset({"x"}), {"x": 2}, {"x": 2}),
        (frozenset({"x"}), {"args": {"x": 2}, "x": 3}, {"args": {"x": 2}, "x": 3}),
        (frozenset({"args"}), {"args": {"x": 2}}, {"args": {"x": 2}}),
        (frozenset[str](), {"args": {}}, {}),
        (None, {"args": {"x": 2}}, {"x": 2}),
    ],
)
def test_the_arguments_of_an_edit_are_unwrapped_unless_the_tool_takes_args(
    known: frozenset[str] | None, args: dict[str, Any], meant: dict[str, Any]
) -> None:
    (reply,) = choose(ReplyInput.of("edit", args), lambda _: known)([replace(a_request(), body=BODY)])
    assert reply.value == {"decision": "edit", "args": meant}


def test_a_tool_that_is_not_known_is_known_by_what_it_was_called_with() -> None:
    request = replace(a_request(), body=ApprovalBody.ask("tool", {"args": {}}))
    (reply,) = choose(ReplyInput.of("edit", {"args": {"x": 2}}), lambda _: None)([request])
    assert reply.value == {"decision": "edit", "args": {"args": {"x": 2}}}
