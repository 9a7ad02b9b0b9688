"""How deeply JSON nests is known before it is parsed."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.faces.http.depth import MAX_DEPTH, Depth, too_deep

pytestmark = pytest.mark.promise("P16")

TEXTS = st.text(st.sampled_from('[]{}"\\,:/nué∀\U0001f600'), max_size=8) | st.text(max_size=4)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
LIMITS = st.integers(0, 5)
CUTS = st.lists(st.integers(0, 200), max_size=6)


def depth_of(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    held: Any = value.values() if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType]
    return 1 + max((depth_of(inner) for inner in held), default=0)


def exceeds(text: bytes, cuts: list[int], limit: int) -> bool:
    depth = Depth(limit)
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return any([depth.exceeds(text[start:end]) for start, end in pairwise(places)])


@given(value=VALUES, ascii_only=st.booleans(), cuts=CUTS, limit=LIMITS)
def test_it_is_as_deep_as_its_value_wherever_it_is_cut(
    value: Any, ascii_only: bool, cuts: list[int], limit: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert exceeds(text, cuts, limit) == (depth_of(value) > limit)


@given(text=st.text(st.sampled_from('[]{}"\\,:1 '), max_size=24), cuts=CUTS, limit=LIMITS)
def test_whatever_a_parser_takes_is_as_deep_as_it_says(text: str, cuts: list[int], limit: int) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if value is not None:
        assert exceeds(text.encode(), cuts, limit) == (depth_of(value) > limit)


@pytest.mark.parametrize(("depth", "refused"), [(MAX_DEPTH, False), (MAX_DEPTH + 1, True)])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_sixty_four_levels_are_taken_and_no_more(opening: str, closing: str, depth: int, refused: bool) -> None:
    levels = opening.count("[") + opening.count("{")
    text = (
        opening * (depth // levels)
        + "[" * (depth % levels)
        + "1"
        + "]" * (depth % levels)
        + closing * (depth // levels)
    )
    assert depth_of(json.loads(text)) == depth
    assert too_deep(text) is refused
    assert too_deep(text.encode()) is refused


def test_what_is_never_closed_is_too_deep_all_the_same() -> None:
    assert too_deep("[" * (MAX_DEPTH + 1))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_that_a_parser_would_guess_hide_nothing(encoding: str) -> None:
    text = json.dumps(["∀", "["]).encode(encoding)
    assert json.loads(text) == ["∀", "["]
    assert too_deep(text)
