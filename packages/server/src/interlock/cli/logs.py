"""The log, on standard error: lines for people on a terminal, one JSON object a line for programs."""

import json
import logging
import sys
from datetime import UTC, datetime

from interlock_client.visible import visible

_OWN_FIELDS = ("method", "path", "status", "request_id", "ms")


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


def set_up_logs(level: str, form: str = "auto") -> None:
    """`form`: text, json, or auto, which is text where a person looks on."""
    handler = logging.StreamHandler(sys.stderr)
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextLines() if is_text else JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # These tell of every statement and request; what matters of it is in our own log.
    for noisy in ("alembic", "httpx", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
