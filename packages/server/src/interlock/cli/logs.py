"""The log, on standard error: lines for people on a terminal, one JSON object a line for programs."""

import json
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from interlock_client.visible import visible

_OWN_FIELDS = ("method", "path", "status", "request_id", "ms")
THROTTLE_SECONDS = 60.0


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, object] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if error := _error(self, record):
            entry["error"] = error
        return json.dumps(entry, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """The time, the level, what happened; below it the traceback, where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{at} {record.levelname.lower():7} {record.getMessage()}{fields}"
        error = _error(self, record)
        # What an agent wrote may be in it, and this is a terminal.
        return visible(f"{line}\n{error}" if error else line)


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: record.__dict__[name] for name in _OWN_FIELDS if name in record.__dict__}


def _error(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """The traceback; one whose secrets had to be hidden comes as a text."""
    if record.exc_info:
        return formatter.formatException(record.exc_info)
    return str(record.__dict__.get("error", ""))


class Throttle(logging.Filter):
    """Lets a line pass once a minute: whoever sends rubbish, or half of it, must not fill the log."""

    def __init__(self, message: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._message = message
        self._clock = clock
        self._passed_at: dict[str, float] = {}
        self._withheld: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        line = str(record.msg)
        if self._message not in (None, line):
            return True
        now = self._clock()
        if now - self._passed_at.get(line, -math.inf) < THROTTLE_SECONDS:
            self._withheld[line] += 1
            return False
        self._passed_at[line] = now
        if withheld := self._withheld.pop(line, 0):
            record.msg = f"{line} (and {withheld} more since the last such line)"
        return True


def set_up_logs(level: str, form: str = "auto") -> None:
    """`form`: text, json, or auto, which is text where a person looks on."""
    handler = logging.StreamHandler(sys.stderr)
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextLines() if is_text else JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("interlock.connections").addFilter(Throttle())
    logging.getLogger("uvicorn.error").addFilter(Throttle("Invalid HTTP request received."))
    # These tell of every statement and request; what matters of it is in our own log.
    for noisy in ("alembic", "httpx", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
