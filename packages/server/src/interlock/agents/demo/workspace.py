"""The demo agent's tools: real files and real commands, all in one folder.

What a tool will not or cannot do is told to the model as a text with status "error", and the agent goes on.
Each such text begins with `Error` or with the exit code, by which a reader can tell it from a person's refusal.
"""

import codecs
import os
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from interlock.agents.demo import shell
from interlock.agents.demo.folder import Folder, Location, NotAFile, OutsideFolder
from interlock.agents.previews import with_preview
from interlock.domain.preview import After, FilePreview, change


@dataclass(frozen=True, slots=True)
class Limits:
    command_seconds: float = 60.0
    output_bytes: int = 32 * 1024
    read_bytes: int = 64 * 1024
    edit_bytes: int = 1024 * 1024
    listed: int = 500


# In both languages: it is written before anybody has come who reads one of them.
WELCOME = """\
# The demo agent's folder. Ask it to show, run, change or delete this file.
# 这里是演示智能体的文件夹。可以让它查看、运行、修改或删除这个文件。
print("Welcome! 欢迎！")
"""


def open_workspace(root: Path) -> None:
    """Make the folder, with a file to try the agent on; one that is there stays as people left it."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        root.mkdir()
        (root / "hello.py").write_text(WELCOME, encoding="utf-8")


def workspace_tools(root: Path, limits: Limits | None = None) -> list[BaseTool]:
    """The six tools, confined to `root`, which is made if it does not exist."""
    root.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(Folder(root), limits or Limits())
    free_of_waiting = (
        workspace.read_file,
        workspace.list_files,
        workspace.write_file,
        workspace.edit_file,
        workspace.delete_file,
    )
    files: list[BaseTool] = [
        StructuredTool.from_function(func=function, parse_docstring=True, handle_tool_error=True)
        for function in free_of_waiting
    ]
    for tool in files:
        if tool.name in _AFTER:
            with_preview(tool, partial(workspace.preview, tool.name))
    execute = StructuredTool.from_function(coroutine=workspace.execute, parse_docstring=True, handle_tool_error=True)
    return [*files, execute]


class Workspace:
    """The docstrings of the methods are what the model reads."""

    def __init__(self, folder: Folder, limits: Limits) -> None:
        self.folder = folder
        self._limits = limits

    def read_file(self, path: str) -> str:
        """Read a text file of the workspace. A long file is cut, and the result then says so.

        Args:
            path: The file, relative to the workspace folder, for example "src/hello.py".
        """
        with _os_errors("read", path):
            data, size = self.folder.read(self.folder.locate(path), self._limits.read_bytes)
            text = _text(data, whole=size <= len(data))
        if size <= len(data):
            return text
        return f"{text}\n[... cut: these are the first {len(data)} of {size} bytes ...]"

    def list_files(self, path: str = ".") -> str:
        """List the files and folders in one folder of the workspace, one per line. Folders end with a slash.

        Args:
            path: The folder, relative to the workspace folder; the workspace itself when left out.
        """
        with _os_errors("list", path):
            found = self.folder.entries(self.folder.locate(path))
        lines = [_line(name, status) for name, status in found[: self._limits.listed]]
        if len(found) > len(lines):
            lines.append(f"[... cut: {len(found) - len(lines)} more ...]")
        return "\n".join(lines) or "(empty)"

    def write_file(self, path: str, content: str) -> str:
        """Create a text file in the workspace, or replace it whole. Missing folders are made.

        Args:
            path: The file, relative to the workspace folder.
            content: The whole text of the file.
        """
        with _os_errors("write", path):
            data = content.encode()
            created = self.folder.write(self.folder.locate(path), data)
        return f"{'Created' if created else 'Replaced'} {path} ({len(data)} bytes)."

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace one passage of a text file in the workspace and leave the rest as it is.

        Args:
            path: The file, relative to the workspace folder.
            old: The passage to replace, exactly as it stands in the file. It must occur exactly once.
            new: What to put in its place.
        """
        with _os_errors("edit", path):
            location = self.folder.locate(path)
            before = self._whole(location, path)
            count = before.count(old) if old else 0
            if count != 1:
                hint = "give more of the text around it" if count else "read the file first"
                raise ToolException(f"Error: the passage occurs {count} times in {path}, not once; {hint}.")
            self.folder.write(location, before.replace(old, new).encode())
        return f"Edited {path}: replaced one passage."

    def _whole(self, location: Location, path: str) -> str:
        data, size = self.folder.read(location, self._limits.edit_bytes)
        if size > len(data):
            raise ToolException(f"Error: {path} is too long to edit ({size} bytes).")
        return _text(data, whole=True)

    def delete_file(self, path: str) -> str:
        """Delete one file of the workspace for good. Folders can't be deleted with it.

        Args:
            path: The file, relative to the workspace folder.
        """
        with _os_errors("delete", path):
            self.folder.delete(self.folder.locate_entry(path))
        return f"Deleted {path}."

    def preview(self, tool: str, args: Mapping[str, Any]) -> FilePreview | None:
        """The file as it is and as a call would leave it; None where the call changes no file that can be shown."""
        path = args["path"]
        try:
            data, modified_at = self._now(path)
        except (OutsideFolder, NotAFile, OSError, ValueError):
            return None
        after = _AFTER[tool](args)
        return change(path, data, after, modified_at=modified_at, is_deleted=tool == "delete_file")

    def _now(self, path: str) -> tuple[bytes | None, datetime | None]:
        location = self.folder.locate(path)
        try:
            data, size = self.folder.read(location, self._limits.edit_bytes + 1)
        except FileNotFoundError:
            return None, None
        if size > self._limits.edit_bytes:
            raise NotAFile
        modified = (self.folder.root / Path(*location)).stat().st_mtime
        return data, datetime.fromtimestamp(modified, UTC)

    async def execute(self, command: str) -> str:
        """Run a shell command in the workspace folder and return what it printed.

        It can't read from a keyboard and has a limited time; what it leaves running in the background is stopped.
        Output that is too long is cut in the middle, and the result then says so.

        Args:
            command: The command line, as for /bin/sh.
        """
        limits = self._limits
        with _os_errors("run", command):
            done = await shell.run(
                command, self.folder.root, seconds=limits.command_seconds, output_bytes=limits.output_bytes
            )
        output = done.output.strip("\n") or "(no output)"
        if done.code is None:
            raise ToolException(
                f"Error: timed out after {limits.command_seconds:g} s; the command and all it started "
                f"were stopped. Its output until then:\n{output}"
            )
        if done.code:
            raise ToolException(f"Exit code {done.code}\n{output}")
        return output


@contextmanager
def _os_errors(verb: str, what: str) -> Generator[None, None, None]:
    """Whatever goes wrong inside becomes a text for the model."""
    try:
        yield
    except OutsideFolder:
        raise ToolException(
            f"Error: {what} is outside the workspace, or a link that leads outside. "
            "Only paths inside the workspace folder are allowed."
        ) from None
    except NotAFile:
        raise ToolException(f"Error: cannot {verb} {what}: it is not a regular file.") from None
    except UnicodeError:
        raise ToolException(f"Error: cannot {verb} {what}: it is not UTF-8 text.") from None
    except OSError as error:
        raise ToolException(f"Error: cannot {verb} {what}: {error.strerror or error}.") from None
    except ValueError as error:  # a NUL in a path or a command
        raise ToolException(f"Error: cannot {verb} {what!r}: {error}.") from None


def _text(data: bytes, *, whole: bool) -> str:
    if b"\0" in data:
        raise UnicodeError
    # A cut may fall inside a character; only what stands before that one is text.
    return codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)


def _line(name: str, status: os.stat_result) -> str:
    if stat.S_ISDIR(status.st_mode):
        return f"{name}/"
    if stat.S_ISLNK(status.st_mode):
        return f"{name} (a link)"
    return f"{name} ({status.st_size} bytes)"


def _with_passage_replaced(args: Mapping[str, Any]) -> After:
    old, new = str(args["old"]), str(args["new"])
    return lambda before: before.replace(old, new) if old and before.count(old) == 1 else None


_AFTER: Mapping[str, Callable[[Mapping[str, Any]], After]] = {
    "write_file": lambda args: args["content"],
    "edit_file": _with_passage_replaced,
    "delete_file": lambda _: None,
}
"""By tool, what a call would make of its file."""
