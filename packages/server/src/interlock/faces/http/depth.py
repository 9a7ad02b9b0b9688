"""How deeply JSON nests, told without parsing it: a parser that recurses must not see what is too deep."""

from array import array
from itertools import accumulate

from interlock.texts import limits_text

MAX_DEPTH = 64
TOO_DEEP = limits_text("body_too_deep", "en", most=MAX_DEPTH)

_OPENING = b"[{"
_CLOSING = b"]}"
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in _OPENING + _CLOSING)
_SIGNS = bytes.maketrans(_OPENING + _CLOSING, b"\x01\x01\xff\xff")


class Depth:
    """Fed with the pieces of one JSON text, wherever they are cut.

    What is no JSON is followed as far as a parser would read it, and not beyond.
    """

    def __init__(self, limit: int = MAX_DEPTH) -> None:
        self._limit = limit
        self._depth = 0
        self._in_string = False
        self._pending_escape = b""

    def exceeds(self, piece: bytes) -> bool:
        """Take the next piece; whether the text is too deep by now.

        A zero byte counts as too deep: it stands in no JSON in UTF-8, and in the other encodings that parsers guess,
        bytes are not characters.
        """
        if b"\x00" in piece:
            return True
        # Once escaped backslashes and then escaped quotes are gone, every quote is one that begins or ends a string.
        text = (self._pending_escape + piece).replace(b"\\\\", b"").replace(b'\\"', b"")
        self._pending_escape = b"\\" if text.endswith(b"\\") else b""
        parts = text.split(b'"')
        outside = b"".join(parts[self._in_string :: 2])
        self._in_string ^= len(parts) % 2 == 0
        return self._nests(outside.translate(None, _NO_BRACKETS))

    def _nests(self, brackets: bytes) -> bool:
        if not brackets:
            return False
        steps = array("b", brackets.translate(_SIGNS))
        deepest = self._depth + brackets.count(b"[") + brackets.count(b"{")
        if deepest > self._limit:
            deepest = max(accumulate(steps, initial=self._depth))
        self._depth += sum(steps)
        return deepest > self._limit


def too_deep(text: str | bytes) -> bool:
    """Whether a whole message nests deeper than JSON may here."""
    return Depth().exceeds(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
