"""Messages as a model says them, piece by piece, without the values that stand in several pieces."""

from interlock.domain.redaction import Redaction


class Tokens:
    """Keeps back the end of what was said where it may be the beginning of a value, until more has come."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def said(self, message_id: str, piece: str, redact: Redaction) -> str:
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
