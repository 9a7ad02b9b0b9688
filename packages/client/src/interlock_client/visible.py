"""Text as it is: whatever would steer a terminal, hide or reorder what a person reads is written out as an escape."""

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Controls (ANSI sequences begin with one), formats (bidi marks, zero-width characters, tags), surrogates, private use,
unassigned, and the line breaks that only Unicode knows."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, by their class, that show nothing."""
_SELECTORS = (("\u180b", "\u180d"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
_SPACES = " \u3000"
"""The plain one, and the wide one of Chinese and Japanese."""


def visible(text: str, *, keep: str = "\n") -> str:
    """The text with every such character replaced: `\\x1b`, `\\u202e`, `\\U000e0041`. Those in `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in keep or not _is_hidden(one) else _escape(one) for one in text)


def one_line(text: str) -> str:
    """For an error of a command: it repeats paths, names and values that anybody may have written."""
    return " ".join(visible(text).split())


def _is_hidden(character: str) -> bool:
    if character in _SPACES:
        return False
    category = unicodedata.category(character)
    # Other spaces look like a plain one; selectors look like nothing.
    return category in _HIDDEN or category == "Zs" or character in _BLANK or _is_selector(character)


def _is_selector(character: str) -> bool:
    return any(first <= character <= last for first, last in _SELECTORS)


def _escape(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
