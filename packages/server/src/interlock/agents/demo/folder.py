"""One folder that paths cannot leave, by `..`, by an absolute path or through a link.

Checking a path and then opening it by name leaves a moment in which a part of it can be swapped for a link.
So a path is resolved once, and what it resolved to is then walked from the root part by part, following no link at all.
"""

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

Location = tuple[str, ...]
"""The parts of a path below the root, free of links and dots when it was resolved."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = ".interlock-write-"


class OutsideFolder(Exception):
    """The path leads out of the folder."""


class NotAFile(Exception):
    """The path names something that is no regular file."""


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def locate(self, path: str) -> Location:
        """Where `path` leads, following links; `OutsideFolder` when that is not in the folder."""
        return self._below(os.path.realpath(self.root / path))

    def locate_entry(self, path: str) -> Location:
        """Like `locate`, but a link in last place is named itself, not what it points to.

        One that points outside is refused all the same: touching it can only surprise.
        """
        located = self.locate(path)
        parent, name = os.path.split(os.path.join(self.root, path.rstrip("/")))
        if not located or name in ("", ".", ".."):
            return located
        return (*self._below(os.path.realpath(parent)), name)

    def _below(self, real: str) -> Location:
        if not Path(real).is_relative_to(self.root):
            raise OutsideFolder
        return Path(real).relative_to(self.root).parts

    @contextmanager
    def directory(self, location: Location, *, create: bool = False) -> Generator[int, None, None]:
        """A descriptor of the folder at `location`; a link put in its way meanwhile raises OSError."""
        opened = os.open(self.root, _DIRECTORY)
        try:
            for part in location:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=opened)
                inner = os.open(part, _DIRECTORY, dir_fd=opened)
                os.close(opened)
                opened = inner
            yield opened
        finally:
            os.close(opened)

    def read(self, location: Location, limit: int) -> tuple[bytes, int]:
        """At most `limit` bytes of a file, and its whole size."""
        with self.directory(location[:-1]) as parent:
            # Non-blocking, because opening a pipe that nobody writes to would never return.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(_name(location), flags, dir_fd=parent), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise NotAFile
                return file.read(limit), found.st_size

    def write(self, location: Location, content: bytes) -> bool:
        """Put a whole file in place at once, making its parents; true when there was none before."""
        with self.directory(location[:-1], create=True) as parent:
            name = _name(location)
            mode = _mode_of(name, parent)
            if mode is not None and not stat.S_ISREG(mode):
                raise NotAFile
            self._replace(parent, name, content, mode)
            return mode is None

    def _replace(self, parent: int, name: str, content: bytes, mode: int | None) -> None:
        temporary = _TEMPORARY + secrets.token_hex(8)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=parent), "wb") as file:
                file.write(content)
                file.flush()
                if mode is not None:
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
                os.fsync(file.fileno())
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)
            raise
        os.fsync(parent)

    def delete(self, location: Location) -> None:
        with self.directory(location[:-1]) as parent:
            name = _name(location)
            mode = _mode_of(name, parent)
            if mode is not None and stat.S_ISDIR(mode):
                raise NotAFile
            os.unlink(name, dir_fd=parent)

    def entries(self, location: Location) -> list[tuple[str, os.stat_result]]:
        """The names in a folder with what they are, links not followed, sorted."""
        with self.directory(location) as opened:
            found: list[tuple[str, os.stat_result]] = []
            for name in sorted(os.listdir(opened)):
                # What a crash in the middle of a write left is nobody's file.
                if name.startswith(_TEMPORARY):
                    continue
                with suppress(FileNotFoundError):
                    found.append((name, os.stat(name, dir_fd=opened, follow_symlinks=False)))
            return found


def _name(location: Location) -> str:
    if not location:
        raise NotAFile
    return location[-1]


def _mode_of(name: str, parent: int) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
