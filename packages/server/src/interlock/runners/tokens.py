"""Texts that come piece by piece, without the values that stand in several pieces."""

from collections import OrderedDict
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.redaction import RUN, Redaction, hide_after

MOST_PLACES = 1_000

Place = tuple[str, ...]


class Tokens:
    """Messages as a model says them.

    Keeps back the end of what was said where it may be the beginning of a value, until more has come.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def add(self, message_id: str, piece: str, redact: Redaction) -> str:
        """What of the message may be told now."""
        if not redact:
            return piece
        text = self._kept.pop(message_id, "") + piece
        end = redact.open_end(text)
        if end < len(text):
            self._kept[message_id] = text[end:]
        return redact(text[:end])

    def rest(self, message_id: str, redact: Redaction) -> str:
        """What was kept back of a message that has ended."""
        return redact(self._kept.pop(message_id, ""))


class CustomTexts:
    """The texts of custom events, in which those at one place may be the pieces of one.

    An event is told at once and as it is made: nothing of it is kept back for the next. So an end that a value begins
    with is hidden, whatever follows; less than 4 characters of it cannot be told from other text, and stay.
    """

    def __init__(self) -> None:
        self._before: OrderedDict[Place, str] = OrderedDict()

    def hide(self, value: JsonValue, redact: Redaction, place: Place = ()) -> JsonValue:
        if not redact:
            return value
        if isinstance(value, str):
            before = self._before.pop(place, "")
            self._before[place] = (before + value)[-RUN + 1 :]
            if len(self._before) > MOST_PLACES:
                self._before.popitem(last=False)
            return hide_after(before, value, redact)
        if isinstance(value, dict):
            members = cast("JsonObject", value)
            return {redact(name): self.hide(one, redact, (*place, name)) for name, one in members.items()}
        if isinstance(value, list):
            return [self.hide(one, redact, (*place, "")) for one in cast("list[JsonValue]", value)]
        return value
