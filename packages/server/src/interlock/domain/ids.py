"""Identifiers. Random ones come from the operating system; none carries a meaning beyond its prefix."""

import hashlib
import secrets
import uuid


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"


def new_thread_id(username: str) -> str:
    return f"{username}-{uuid.uuid4()}"


def keyed_thread_id(username: str, asker_id: str, key: str, deleted: int) -> str:
    """The thread that this asker means by a name of its own; another one after each that was deleted."""
    name = "\n".join([asker_id, str(deleted), key]).encode("utf-8", "backslashreplace")
    return f"{username}-{uuid.UUID(bytes=hashlib.sha256(name).digest()[:16], version=5)}"


def named_run_id(thread_id: str, name: str) -> str:
    """The run that a client's own name for its message means, so that the message is taken once."""
    content = f"{thread_id}\n{name}".encode("utf-8", "backslashreplace")
    return f"run_{hashlib.sha256(content).hexdigest()[:32]}"


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
