"""Nothing that an agent wrote is hidden from who reads it."""

import pytest

from interlock_client.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 中文, é, 🙂", "plain text, 中文, é, 🙂"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("safe\u202etxt.exe", "safe\\u202etxt.exe"),
        ("a\u200bb\u200d\ufeffc", "a\\u200bb\\u200d\\ufeffc"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("line\r\x08over\x7f\x9b", "line\\x0d\\x08over\\x7f\\x9b"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("a\u00a0b\u2028c\u2029d", "a\\xa0b\\u2028c\\u2029d"),
        ("fill\u3164\u2800\ufe0f", "fill\\u3164\\u2800\\ufe0f"),
        ("half \ud800", "half \\ud800"),
        ("宽　空格", "宽　空格"),
    ],
)
def test_what_would_hide_or_steer_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_line_breaks_stay_where_there_may_be_several_lines() -> None:
    assert visible("a\nb") == "a\nb"
    assert visible("a\nb", keep="") == "a\\x0ab"
    assert visible("a\tb", keep="\t") == "a\tb"


def test_every_character_is_shown_or_written_out() -> None:
    shown = "".join(visible(chr(number), keep="") for number in range(0x110000))
    assert shown.replace("\u3000", " ").isprintable()
