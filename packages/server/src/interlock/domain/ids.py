"""Identifiers. Random ones come from the operating system; none carries a meaning beyond its prefix."""

import secrets
import uuid


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"


def new_thread_id(username: str) -> str:
    return f"{username}-{uuid.uuid4()}"


def is_own_new_thread_id(thread_id: str, username: str) -> bool:
    """Whether an id that a caller chose is exactly `{username}-{uuid}`, in the canonical spelling of a UUID."""
    prefix = f"{username}-"
    if not thread_id.startswith(prefix):
        return False
    rest = thread_id[len(prefix) :]
    try:
        return str(uuid.UUID(rest)) == rest
    except ValueError:
        return False
