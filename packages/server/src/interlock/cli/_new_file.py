"""Files that commands write for people to keep."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def new_file(path: Path | None) -> Generator[IO[str]]:
    """The file, which only its owner may read and which must be new: an earlier export is worth keeping."""
    import os
    import sys

    from interlock.domain.errors import InvalidInput

    if path is None:
        yield sys.stdout
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be made: {error.strerror}") from error
    try:
        with open(descriptor, "w", encoding="utf-8") as target:
            yield target
    except BaseException:
        path.unlink(missing_ok=True)
        raise
