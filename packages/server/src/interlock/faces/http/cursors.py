"""Cursors: where a page of a list ended, spelled so that nobody is tempted to build one."""

import base64
import binascii
from datetime import UTC, datetime

from interlock.domain.errors import FieldError, InvalidInput


def cursor(at: datetime, name: str) -> str:
    return base64.urlsafe_b64encode(f"{at.astimezone(UTC).isoformat()} {name}".encode()).decode()


def read_cursor(text: str) -> tuple[datetime, str]:
    try:
        at, _, name = base64.urlsafe_b64decode(text.encode()).decode().partition(" ")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not name:
            raise ValueError("no zone, or no name")
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError, binascii.Error) as error:
        message = "the cursor is not one of ours: use next_cursor of the page before"
        raise InvalidInput(message, [FieldError("cursor", "form", message)]) from error
    return moment, name
