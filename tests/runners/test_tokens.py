"""What a model says piece by piece tells as much as the whole of it would, wherever it is cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.redaction import Redaction
from interlock.runners.tokens import CustomTexts, Tokens

VALUES = ["correct horse battery staple", "abababababab", "sk-planted-3f9a71"]
REDACT = Redaction(wholes=VALUES)
PARTS = [*VALUES, *(one[:9] for one in VALUES), *(one[5:] for one in VALUES), "ab", "word ", "SK-PLANTED-3F9A71"]


@given(parts=st.lists(st.sampled_from(PARTS), max_size=6), cuts=st.lists(st.integers(0, 150), max_size=40))
def test_pieces_are_told_as_the_whole_would_be(parts: list[str], cuts: list[int]) -> None:
    text, tokens = "".join(parts), Tokens()
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    told = [tokens.add("m", text[start:end], REDACT) for start, end in pairwise(edges)]
    told.append(tokens.rest("m", REDACT))
    # Values side by side are hidden as one where they come at once.
    assert "".join(told).replace("***", "") == REDACT(text).replace("***", "")


def test_nothing_is_kept_back_that_can_be_no_value() -> None:
    tokens = Tokens()
    assert [tokens.add("m", piece, REDACT) for piece in ("one.", "two.", "ab!")] == ["one.", "two.", "ab!"]
    assert tokens.add("m", "abab", REDACT) == ""
    assert tokens.add("n", "abab", Redaction()) == "abab"
    assert tokens.rest("m", REDACT) == "abab"


@given(value=st.sampled_from(VALUES), cuts=st.lists(st.integers(1, 30), max_size=8), around=st.booleans())
def test_of_a_value_in_several_custom_events_less_than_four_characters_are_told(
    value: str, cuts: list[int], around: bool
) -> None:
    text = f"<{value}>" if around else value
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    texts, redact = CustomTexts(), Redaction(VALUES)
    told = [texts.hide({"text": text[start:end]}, redact)["text"] for start, end in pairwise(edges)]
    assert len("".join(told).replace("***", "").strip("<>")) < 4
