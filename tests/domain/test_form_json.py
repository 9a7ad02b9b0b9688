"""The JSON of forms is shared with other versions of the server on the same database."""

from typing import Any

import pytest

from interlock.domain.form import Form, UnknownShape

ACTION = {"allowed": ["accept", "reject"], "name": "send"}
BINDING = {"asker": "", "asked": "ab", "site": "node:3", "changes": 1, "acts": "cd", "space": "a:1", "alone": False}
FILE = {
    "path": "a", "exists": True, "sha256": "00", "is_deleted": False, "on_disk": True, "host": "h", "text": "x",
    "after": None,
}  # fmt: skip
WRITTEN: list[dict[str, Any]] = [
    {"shape": "ask"},
    {"shape": "hitl", **ACTION},
    {"shape": "tool_approval", **ACTION, "schema": {"type": "object"}},
    {"shape": "human", **ACTION, "listed": True, "index": 1},
    {"shape": "schema", "schema": {"type": "string"}},
    {"shape": "free"},
    {"shape": "effect", "task_id": "t", "call_id": "c", "epoch": 2, "tool": "send", "unsent": None},
    {"shape": "breakpoint", "checkpoint": "1f"},
]


@pytest.mark.parametrize("beside", [{}, BINDING, {**BINDING, "file": FILE}])
@pytest.mark.parametrize("written", WRITTEN, ids=lambda one: one["shape"])
def test_a_form_is_written_as_it_was_read(written: dict[str, Any], beside: dict[str, Any]) -> None:
    form = Form.from_json(written | beside)
    assert form is not None
    assert form.to_json() == written | beside


def test_a_form_of_before_some_keys_were_is_read() -> None:
    form = Form.from_json({"shape": "ask", "asker": None, "asked": "ab", "site": None, "alone": True})
    assert form is not None
    assert form.binding is not None
    assert (form.binding.value, form.binding.changes, form.binding.acts) == ("ab", 0, None)


def test_a_shape_of_a_newer_version_does_not_keep_its_request_from_being_read() -> None:
    assert Form.from_json({"shape": "of tomorrow", "k": 1}) == Form(UnknownShape())


def test_a_form_with_other_fields_than_this_version_writes_is_read() -> None:
    assert Form.from_json({"shape": "schema"}) == Form(UnknownShape())
    form = Form.from_json({"shape": "ask", "file": {**FILE, "of tomorrow": 1}})
    assert form == Form.from_json({"shape": "ask", "file": FILE})


def test_a_request_of_an_agent_elsewhere_has_no_form() -> None:
    assert Form.from_json({}) is None
