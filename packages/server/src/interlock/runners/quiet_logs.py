"""Logs without the values that people gave: an agent's libraries log addresses, headers and errors with them in it.

What is logged may come from anywhere: from a thread or a pool that a tool began, which knows nothing of the run, from a
task that works for several runs, from a thread that was left behind. So not the run decides what is hidden, but all
that code in this process was lent.
"""

import logging
import sys
import threading
import traceback
from typing import Any, cast

from interlock.domain.redaction import Redaction
from interlock.runners.secret_values import process_secrets

_OF_CALLERS = frozenset({"interlock.access", "interlock.connections", "interlock.streams"})
"""Who called, from where. No agent's code logs here, and nobody may hide their calls by giving them as a secret."""


def silence_logs() -> None:
    """From now on what is logged is redacted where it is logged, whoever writes it out."""
    # Not where records are made: what is given as `extra` comes later, and some are made elsewhere.
    handle = logging.Logger.handle
    if getattr(handle, "interlock", False):
        return

    def handle_quietly(self: logging.Logger, record: logging.LogRecord) -> None:
        if record.name not in _OF_CALLERS and process_secrets:
            _silence(record, process_secrets)
        handle(self, record)

    cast("Any", handle_quietly).interlock = True
    cast("Any", logging.Logger).handle = handle_quietly
    _log_what_goes_past()


def _log_what_goes_past() -> None:
    """What Python itself would write to standard error. Where somebody has set a hook, theirs tells of it."""
    logging.captureWarnings(True)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _log_end
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _log_unraisable


def _log_end(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
        name = "a thread" if ended.thread is None else ended.thread.name
        logging.getLogger("threading").error("%s failed", name, exc_info=ended.exc_value)


def _log_unraisable(ignored: "sys.UnraisableHookArgs") -> None:
    what = f"{ignored.err_msg or 'Exception ignored in'}: {ignored.object!r}"
    logging.getLogger("sys").error(what, exc_info=ignored.exc_value)


_STANDARD = frozenset(logging.makeLogRecord({}).__dict__)


def _silence(record: logging.LogRecord, redact: Redaction) -> None:
    try:
        text = record.getMessage()
    except Exception:
        # Logging itself tells of a text and arguments that do not fit, and would show both.
        text = str(record.msg)
    if record.exc_info and record.exc_info[1] is not None:
        text += "\n" + "".join(traceback.format_exception(record.exc_info[1])).rstrip()
    elif record.exc_text:
        text += "\n" + record.exc_text
    record.exc_info = record.exc_text = None
    record.msg, record.args = redact(text), None
    for name in record.__dict__.keys() - _STANDARD:
        record.__dict__[name] = redact.within(record.__dict__[name])
