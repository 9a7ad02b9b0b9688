"""What is hidden of a value, and what is left of everything else."""

import base64
import json
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.redaction import HIDDEN, RUN, SHORTEST, CombinedRedaction, Redaction

pytestmark = pytest.mark.promise("P13")


class Pair(NamedTuple):
    key: str
    other: int


KEY = "sk-proj-Zq81mVx0Lr7TbW2kDn5A"

visible = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="*"), min_size=RUN, max_size=60)
around = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)

spellings: dict[str, Callable[[str], str]] = {
    "plain": str,
    "python": repr,
    "ascii": ascii,
    "bytes": lambda text: repr(text.encode()),
    "json": json.dumps,
    "json_as_it_is": lambda text: json.dumps(text, ensure_ascii=False),
    "json_in_json": lambda text: json.dumps({"body": json.dumps(text)}),
    "python_in_json": lambda text: json.dumps(repr(text)),
    "address": lambda text: quote(text, safe=""),
    "path": quote,
    "hex": lambda text: text.encode().hex(),
    "hex_with_colons": lambda text: text.encode().hex(":"),
    "hex_with_dashes": lambda text: text.encode().hex("-"),
    "hex_with_blanks": lambda text: text.encode().hex(" ").upper(),
    "hex_in_pairs": lambda text: text.encode().hex(" ", -2),
}


def runs(text: str) -> set[str]:
    folded = text.lower()
    return {folded[at : at + RUN] for at in range(len(folded) - RUN + 1)}


@given(value=visible, start=st.integers(0, 60), size=st.integers(RUN, 60), before=around, after=around)
def test_no_run_of_a_value_is_left(value: str, start: int, size: int, before: str, after: str) -> None:
    start = min(start, len(value) - RUN)
    quiet = Redaction([value])(before + value[start : start + size] + after)
    telling = {run for run in runs(value) if not run.isspace()}
    assert not telling & runs(quiet)


@given(value=visible, other=visible, text=around)
def test_what_no_value_says_stays_as_it_is(value: str, other: str, text: str) -> None:
    lines = [line for one in (value, other) for line in one.lower().splitlines()]
    if not (runs(value) | runs(other)) & runs(text) and not any(line.strip() in text.lower() for line in lines):
        gaps = any(gap in text for gap in ("..", "…", "**", "•", "##", "__", "xx", "XX"))
        assert gaps or Redaction([value, other])(text) == text


@pytest.mark.parametrize("spelling", spellings)
@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="*"), min_size=RUN, max_size=40))
def test_a_value_is_hidden_however_it_is_spelled(spelling: str, value: str) -> None:
    spelled = spellings[spelling](value)
    quiet = Redaction([value])(f"before {spelled} after")
    assert spelled not in quiet or value.isspace()
    assert not {run for run in runs(value) if not run.isspace()} & runs(quiet)


@pytest.mark.parametrize("shift", range(3))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@given(value=visible)
def test_a_value_is_hidden_in_base64(shift: int, encode: Callable[[bytes], bytes], value: str) -> None:
    encoded = encode(b"u" * shift + value.encode() + b":end").decode()
    before, after = Redaction([value])(f"<{encoded}>").split(HIDDEN)
    assert len(before + after) <= len("<dXV") + len("OmVuZA==>") + 2


@pytest.mark.parametrize(
    "text",
    ["sk-proj-...kDn5A", "sk-pr...Dn5A", "sk-proj-********************Dn5A", "****Dn5A", "sk-proj…", "[sk-p...5A]"],
)
def test_what_a_library_leaves_of_a_value_is_hidden(text: str) -> None:
    quiet = Redaction([KEY])(f"Incorrect API key provided: {text} (see ... the manual).")
    for size in range(SHORTEST, len(KEY)):
        assert KEY[:size] not in quiet
        assert KEY[-size:] not in quiet
    assert quiet.endswith("(see ... the manual).")


def test_a_value_that_begins_another_does_not_uncover_its_end() -> None:
    for values in (["prefix-1234", "prefix-1234-tail"], ["prefix-1234-tail", "prefix-1234"], ["pre4", "pre4-tail"]):
        quiet = Redaction(values)(f"no {values[0]} and no {values[1]}")
        assert quiet == f"no {HIDDEN} and no {HIDDEN}"


def test_values_that_overlap_in_a_text_are_hidden_to_the_end_of_both() -> None:
    assert Redaction(["abcdefgh12", "gh12345678"])("<abcdefgh12345678>") == f"<{HIDDEN}>"


def test_each_line_of_a_value_is_hidden_by_itself() -> None:
    value = "-----BEGIN KEY-----\r\nMIIEvgIBADANBg\n  kqhkiG\nab1\n-----END KEY-----"
    quiet = Redaction([value])("line 2: MIIEvgIBADANBg, line 3 kqhkiG, line 4 ab1, 2 lines of -----END KEY-----")
    assert quiet == f"line 2: {HIDDEN}, line 3 {HIDDEN}, line 4 ab1, 2 lines of {HIDDEN}"


@pytest.mark.parametrize("value", ["a", "42", "yes", ""])
def test_a_value_that_cannot_be_told_from_text_leaves_texts_alone(value: str) -> None:
    assert Redaction([value])("yes, a day has 24 hours, not 42") == "yes, a day has 24 hours, not 42"


def test_a_short_value_is_hidden_whole_and_its_parts_are_not() -> None:
    assert Redaction(["1234"])("pin 1234, PIN1234, 123, 234") == f"pin {HIDDEN}, PIN{HIDDEN}, 123, 234"


def test_blanks_within_a_value_hide_no_blanks() -> None:
    value = "first line\n" + " " * 20 + "second line"
    assert Redaction([value])("a" + " " * 30 + "b\n\n") == "a" + " " * 30 + "b\n\n"


def test_the_words_of_a_value_are_hidden_though_they_are_common() -> None:
    assert Redaction(["my-password-1"])("wrong password for amy-passwo") == f"wrong {HIDDEN} for a{HIDDEN}"
    assert Redaction(["password1"])("wrong password") == f"wrong {HIDDEN}"


def test_plain_data_is_redacted_throughout() -> None:
    found = Redaction([KEY]).within({"a": [KEY, {KEY: f"<{KEY}>"}], "n": 7, "none": None})
    assert found == {"a": [HIDDEN, {HIDDEN: f"<{HIDDEN}>"}], "n": 7, "none": None}


def test_case_does_not_matter() -> None:
    assert Redaction([KEY])(f"{KEY.upper()} {KEY.lower()} {KEY.swapcase()[5:15]}") == " ".join([HIDDEN] * 3)


@pytest.mark.parametrize("unit", ["..x", KEY[:7] + ".", KEY[:4] + " ", "a" * 7 + "-", "some other text "])
def test_a_text_of_one_mebibyte_that_nearly_tells_a_value_is_told_apart(unit: str) -> None:
    """Nothing here is done twice for a character, or this would not come to an end."""
    text = unit * ((1 << 20) // len(unit))
    redact = Redaction([KEY, "a" * 32_000, "1234"])
    assert redact(text) == text
    assert redact(f"{text} {KEY} {text}") == f"{text} {HIDDEN} {text}"


def test_collections_and_bytes_are_redacted_as_what_they_are() -> None:
    given = [(KEY, 1), {KEY}, frozenset({KEY}), KEY.encode(), bytearray(KEY.encode()), Pair(KEY, 2)]
    found = Redaction([KEY]).within(given)
    assert found == [(HIDDEN, 1), {HIDDEN}, frozenset({HIDDEN}), b"***", bytearray(b"***"), Pair(HIDDEN, 2)]
    assert [type(one) for one in found] == [type(one) for one in given]


def test_a_key_with_an_accent_is_hidden_in_bytes() -> None:
    assert Redaction(["sk-Zq81é9mVx0"]).raw("<sk-Zq81é9mVx0>".encode()) == b"<***>"


@given(value=visible, before=around, after=around)
def test_hidden_as_a_whole_only_a_value_is_found_wherever_it_stands(value: str, before: str, after: str) -> None:
    quiet = Redaction(wholes=[value, "another-1234"])
    assert value.lower() not in quiet(before + value + after).lower()
    assert value.encode() not in quiet.raw((before + value + after).encode())


@pytest.mark.parametrize("spelling", spellings)
@given(value=visible)
def test_hidden_as_a_whole_only_a_value_is_found_however_it_is_spelled(spelling: str, value: str) -> None:
    spelled = spellings[spelling](value)
    assert spelled not in Redaction(wholes=[value])(f"before {spelled} after")


def test_hidden_as_a_whole_only_a_value_leaves_its_words_alone() -> None:
    quiet = Redaction(wholes=["https://production.host/?key=Zq81mVx0", "1234"])
    for text in ("production", "https://production.host/", "pin 1234", "12345", "https://production.host/?key=Zq81"):
        assert quiet(text) == text
    assert quiet("at https://production.host/?key=Zq81mVx0!") == f"at {HIDDEN}!"
    assert quiet.within({"pin": "1234", "port": 1234}) == {"pin": HIDDEN, "port": 1234}


@pytest.mark.parametrize("unit", ["a" * 31_999 + "b", KEY[:-1] + ".", "aaaa"])
def test_values_hidden_as_a_whole_are_found_in_a_time_that_goes_by_the_text(unit: str) -> None:
    text = (unit * ((1 << 20) // len(unit) + 1))[: 1 << 20]
    redact = Redaction(wholes=[KEY, "a" * 31_000 + "c", "a" * 8 + "z"])
    assert redact(text) == text
    assert redact(f"{text} {KEY} {text}") == f"{text} {HIDDEN} {text}"


def test_several_hide_together_what_any_of_them_hides() -> None:
    both = CombinedRedaction(Redaction([KEY]), Redaction(wholes=["hunter2hunter2"]))
    assert both(f"{KEY[:10]} hunter2hunter2 hunter2hunter") == f"{HIDDEN} {HIDDEN} hunter2hunter"
    assert len(both) == 2
    assert not CombinedRedaction(Redaction(), Redaction())
