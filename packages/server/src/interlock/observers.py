"""What measures a server or a worker, put together from the configuration."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlock.config import Config
from interlock.domain.errors import InvalidInput
from interlock.services.core import Core
from interlock.services.observing import Several

if TYPE_CHECKING:
    from interlock.tracing import Traces


@contextmanager
def observing(config: Config, core: Core) -> Generator[None]:
    """Runs are counted by everybody, and traced where a collector is named."""
    traces = _traces(config.otlp_endpoint) if config.otlp_endpoint else None
    core.observer = Several(core.tally, traces) if traces else core.tally
    try:
        yield
    finally:
        if traces:
            traces.close()


def _traces(endpoint: str) -> "Traces":
    try:
        from interlock.tracing import exporting_to
    except ImportError as error:
        raise InvalidInput("INTERLOCK_OTLP_ENDPOINT needs the extra otel: install interlock-server[otel]") from error
    return exporting_to(endpoint, f"{socket.gethostname()}-{os.getpid()}")
