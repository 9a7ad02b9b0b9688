"""How a moment is spelled on every wire: ISO 8601, UTC, `Z`."""

from datetime import UTC, datetime


def to_iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
