"""Metadata of threads: what contains what, and what is not kept."""

from typing import Any

import pytest

from interlock.domain.errors import InvalidInput
from interlock.domain.thread_metadata import LARGEST, check_metadata, contains, merge


@pytest.mark.parametrize(
    ("value", "part", "is_in"),
    [
        ({"a": 1, "b": 2}, {}, True),
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {"a": None}, True),
        ({}, {"a": None}, False),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"d": 2}}}, True),
        ({"a": {"b": 1}}, {"a": 1}, False),
        ({"tags": ["x", "y"]}, {"tags": ["y"]}, True),
        ({"tags": ["x", "y"]}, {"tags": ["z"]}, False),
        ({"tags": "x"}, {"tags": ["x"]}, False),
        ({"tags": ["x"]}, {"tags": []}, True),
        ({"tags": {}}, {"tags": []}, False),
    ],
)
def test_a_value_contains_its_parts(value: Any, part: Any, is_in: bool) -> None:
    assert contains(value, part) is is_in


@pytest.mark.parametrize("metadata", [{"a": float("nan")}, {"a": object()}, {"a": "x" * LARGEST}])
def test_what_is_no_json_or_too_large_is_refused(metadata: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_metadata(metadata)
    assert [error.field for error in refused.value.errors] == ["metadata"]


def test_metadata_are_merged_key_by_key_up_to_their_bound() -> None:
    assert merge({"a": {"x": 1}, "b": 2}, {"a": {"y": 1}, "c": None}) == {"a": {"y": 1}, "b": 2, "c": None}
    with pytest.raises(InvalidInput):
        merge({"a": "x" * (LARGEST - 10)}, {"b": "y" * 10})
