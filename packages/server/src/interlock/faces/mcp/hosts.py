"""How long a call may be held: hosts give up on a silent tool, each after a time of its own."""

import math
from collections.abc import Mapping

from interlock.domain.errors import FieldError, InvalidInput

HOLD_SECONDS: Mapping[str, float] = {"claude-code": math.inf, "codex": 280.0, "gemini": 590.0}
"""By what a host calls itself. Claude Code waits as long as it hears of progress, the others a fixed time."""
UNKNOWN_SECONDS = 45.0
"""Below the minute after which many clients give up."""


def hold_seconds(client: str, by_address: str | None, by_call: float | None) -> float:
    """For the host, or as the address of the endpoint says; `by_call`, what the call names, shortens it.

    It prolongs it only where nothing is known of the host.
    """
    name = client.lower()
    seconds = next((seconds for prefix, seconds in HOLD_SECONDS.items() if name.startswith(prefix)), None)
    if by_address is not None:
        seconds = _seconds(by_address)
    if by_call is not None:
        return by_call if seconds is None else min(by_call, seconds)
    return UNKNOWN_SECONDS if seconds is None else seconds


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        message = "hold must be a number of seconds, 0 or more: /mcp?hold=280"
        raise InvalidInput(message, [FieldError("hold", "not_a_number", message)])
    return seconds
