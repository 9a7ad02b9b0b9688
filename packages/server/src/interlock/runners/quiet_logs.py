"""Logs without the values that people gave: an agent's libraries log addresses, headers and errors with them in it."""

import logging
import traceback
from typing import Any, cast

from interlock.agents.context import current
from interlock.domain.redaction import Redaction


def silence_logs() -> None:
    """From now on what a run's code logs is redacted where it is logged, whoever writes it out."""
    # Not the factory of records: what is given as `extra` is added to what it made.
    make = logging.Logger.makeRecord
    if getattr(make, "interlock", False):
        return

    def make_quiet(self: logging.Logger, *args: Any, **more: Any) -> logging.LogRecord:
        record = make(self, *args, **more)
        run = current.get()
        if run is not None and run.secrets:
            _silence(record, run.redact)
        return record

    cast("Any", make_quiet).interlock = True
    cast("Any", logging.Logger).makeRecord = make_quiet


_STANDARD = frozenset(logging.makeLogRecord({}).__dict__)


def _silence(record: logging.LogRecord, redact: Redaction) -> None:
    try:
        text = record.getMessage()
    except Exception:
        # Logging itself tells of a text and arguments that do not fit, and would show both.
        text = str(record.msg)
    if record.exc_info and record.exc_info[1] is not None:
        text += "\n" + "".join(traceback.format_exception(record.exc_info[1])).rstrip()
        record.exc_info = None
    record.msg, record.args = redact(text), None
    for name in record.__dict__.keys() - _STANDARD:
        record.__dict__[name] = redact.within(record.__dict__[name])
