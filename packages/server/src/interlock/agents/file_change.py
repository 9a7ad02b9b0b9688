"""What a call would do to a file, or to something like one."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from interlock.domain.preview import After, FilePreview, change

LONGEST = 1024 * 1024


def file(path: str | Path, after: After, *, name: str | None = None) -> FilePreview:
    """A file that the call would write: its whole new text, or a function from its present text to the new one.

    With None it is deleted. `name` is what people see in place of the path.
    """
    where, is_deleted = Path(path), after is None
    display_path = str(path) if name is None else name
    try:
        status = where.stat()
    except FileNotFoundError:
        return change(display_path, None, after, is_deleted=is_deleted)
    if not where.is_file():
        raise ValueError(f"{display_path} is no file")
    modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
    if status.st_size > LONGEST:
        with where.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        whole = after if isinstance(after, str) else None
        return FilePreview(display_path, True, None, digest, modified_at, whole, is_deleted)
    return change(display_path, where.read_bytes(), after, modified_at=modified_at, is_deleted=is_deleted)


def diff(name: str, before: str | None, after: str | None) -> FilePreview:
    """The change of something that is no file on this machine; None: it does not exist before, or not after."""
    data = None if before is None else before.encode()
    return change(name, data, after, is_deleted=after is None, on_disk=False)
