"""What a call of the demo agent would do to a file, for people who are asked before it runs."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interlock.agents.demo.folder import Folder, NotAFile, OutsideFolder
from interlock.domain.showing import FileBehind

LONGEST = 1024 * 1024


class WorkspacePreview:
    def __init__(self, root: Path) -> None:
        self._folder = Folder(root)

    def behind(self, tool: str, args: Mapping[str, Any]) -> FileBehind | None:
        """The file as it is and as it would be; None where the call changes no file that can be shown."""
        path = args.get("path")
        if tool not in ("write_file", "edit_file", "delete_file") or not isinstance(path, str):
            return None
        try:
            data, modified_at = self._read(path)
        except (OutsideFolder, NotAFile, OSError, ValueError):
            return None
        before = None if data is None else _text(data)
        exists = data is not None
        digest = hashlib.sha256(data or b"").hexdigest()
        return FileBehind(path, exists, before, digest, modified_at, _after(tool, args, before, exists=exists))

    def _read(self, path: str) -> tuple[bytes | None, datetime | None]:
        location = self._folder.locate(path)
        try:
            data, size = self._folder.read(location, LONGEST + 1)
        except FileNotFoundError:
            return None, None
        if size > LONGEST:
            raise NotAFile
        modified = (self._folder.root / Path(*location)).stat().st_mtime
        return data, datetime.fromtimestamp(modified, UTC)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _after(tool: str, args: Mapping[str, Any], before: str | None, *, exists: bool) -> str | None:
    if tool == "delete_file":
        return None
    if tool == "write_file":
        content = args.get("content")
        return content if isinstance(content, str) else None
    old, new = args.get("old"), args.get("new")
    if not exists or before is None or not isinstance(old, str) or not isinstance(new, str):
        return None
    return before.replace(old, new) if old and before.count(old) == 1 else None
