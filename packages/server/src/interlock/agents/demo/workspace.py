"""The demo agent's tools: real files and real commands, all in one folder.

What a tool will not or cannot do is told to the model as a text with status "error", and the agent goes on.
Each such text begins with `Error` or with the exit code, by which a reader can tell it from a person's refusal.
"""

import codecs
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from interlock.agents.demo import shell
from interlock.agents.demo.asks import Language
from interlock.agents.demo.folder import Folder, Location, NotAFile, OutsideFolder


@dataclass(frozen=True, slots=True)
class Limits:
    command_seconds: float = 60.0
    output_bytes: int = 32 * 1024
    read_bytes: int = 64 * 1024
    edit_bytes: int = 1024 * 1024
    listed: int = 500


WELCOME: Mapping[Language, str] = {
    "zh": '# 这里是演示智能体的文件夹。可以让它查看、运行、修改或删除这个文件。\nprint("欢迎！")\n',
    "en": '# The demo agent\'s folder. Ask it to show, run, change or delete this file.\nprint("Welcome!")\n',
}


def open_workspace(root: Path, locale: Language) -> None:
    """Make the folder, with a file to try the agent on; one that is there stays as people left it."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        root.mkdir()
        (root / "hello.py").write_text(WELCOME[locale], encoding="utf-8")


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
    execute = StructuredTool.from_function(coroutine=workspace.execute, parse_docstring=True, handle_tool_error=True)
    return [*files, execute]


class Workspace:
    """The docstrings of the methods are what the model reads."""

    def __init__(self, folder: Folder, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits

    def read_file(self, path: str) -> str:
        """Read a text file of the workspace. A long file is cut, and the result then says so.

        Args:
            path: The file, relative to the workspace folder, for example "src/hello.py".
        """
        with _told("read", path):
            data, size = self._folder.read(self._folder.locate(path), self._limits.read_bytes)
            text = _text(data, whole=size <= len(data))
        if size <= len(data):
            return text
        return f"{text}\n[... cut: these are the first {len(data)} of {size} bytes ...]"

    def list_files(self, path: str = ".") -> str:
        """List the files and folders in one folder of the workspace, one per line. Folders end with a slash.

        Args:
            path: The folder, relative to the workspace folder; the workspace itself when left out.
        """
        with _told("list", path):
            found = self._folder.entries(self._folder.locate(path))
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
        with _told("write", path):
            data = content.encode()
            created = self._folder.write(self._folder.locate(path), data)
        return f"{'Created' if created else 'Replaced'} {path} ({len(data)} bytes)."

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace one passage of a text file in the workspace and leave the rest as it is.

        Args:
            path: The file, relative to the workspace folder.
            old: The passage to replace, exactly as it stands in the file. It must occur exactly once.
            new: What to put in its place.
        """
        with _told("edit", path):
            location = self._folder.locate(path)
            before = self._whole(location, path)
            count = before.count(old) if old else 0
            if count != 1:
                hint = "give more of the text around it" if count else "read the file first"
                raise ToolException(f"Error: the passage occurs {count} times in {path}, not once; {hint}.")
            self._folder.write(location, before.replace(old, new).encode())
        return f"Edited {path}: replaced one passage."

    def _whole(self, location: Location, path: str) -> str:
        data, size = self._folder.read(location, self._limits.edit_bytes)
        if size > len(data):
            raise ToolException(f"Error: {path} is too long to edit ({size} bytes).")
        return _text(data, whole=True)

    def delete_file(self, path: str) -> str:
        """Delete one file of the workspace for good. Folders can't be deleted with it.

        Args:
            path: The file, relative to the workspace folder.
        """
        with _told("delete", path):
            self._folder.delete(self._folder.locate_entry(path))
        return f"Deleted {path}."

    async def execute(self, command: str) -> str:
        """Run a shell command in the workspace folder and return what it printed.

        It can't read from a keyboard and has a limited time; what it leaves running in the background is stopped.
        Output that is too long is cut in the middle, and the result then says so.

        Args:
            command: The command line, as for /bin/sh.
        """
        limits = self._limits
        with _told("run", command):
            done = await shell.run(
                command, self._folder.root, seconds=limits.command_seconds, output_bytes=limits.output_bytes
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
def _told(verb: str, what: str) -> Generator[None, None, None]:
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
