"""Text as it is: what hides or reorders it is written out. As the client's `visible`, which is not for the core."""

import re
import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS = (("\u180b", "\u180d"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
_SPACES = " \u3000"
_LINKS = re.compile(r"(?i)://|\b(?:www|mailto|tel)(?=[.:])|@")


def visible(text: str, *, keep: str = "\n") -> str:
    """The text with every character that is not seen, or moves others, replaced by its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in keep or not _is_hidden(one) else _escape(one) for one in text)


def quoted(text: str, longest: int) -> str:
    """In one line, and no link or address in it is made one by who shows it: `https[://]x`."""
    line = " ".join(visible(text).split())
    line = _LINKS.sub(lambda found: f"[{found[0]}]", line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _is_hidden(character: str) -> bool:
    if character in _SPACES:
        return False
    category = unicodedata.category(character)
    return category in _HIDDEN or category == "Zs" or character in _BLANK or _is_selector(character)


def _is_selector(character: str) -> bool:
    return any(first <= character <= last for first, last in _SELECTORS)


def _escape(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
