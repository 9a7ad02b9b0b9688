"""A file of an agent's settings: read, changed in our hooks only, shown as a difference, written."""

import difflib
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock_client.hook import json_text, toml_text
from interlock_client.hook import settings as own
from interlock_client.hook.installation import Entry

BYTE_ORDER_MARK = "\ufeff"
NOT_READ = (json_text.NotJson, toml_text.NotToml)


class UnusableSettings(Exception):
    """The agent's settings cannot be changed; the message says why."""


@dataclass(frozen=True, eq=False)
class SettingsFile:
    """An agent's settings as they are: the text, and what it says."""

    file: Path
    text: str
    settings: dict[str, Any]
    line_end: str = "\n"
    is_toml: bool = False
    mark: str = ""
    """Before the first character, as some editors on Windows write it."""
    whole_text: str | None = None
    """To the last character; None: there was no file."""

    @classmethod
    def read(cls, file: Path) -> "SettingsFile":
        is_toml = file.suffix == ".toml"
        # What a link leads to is changed, not the link.
        file = file.resolve()
        if (whole_text := _read_text(file)) is None:
            return cls(file, "", {}, is_toml=is_toml)
        # Of an editor on Windows: lines end as they did.
        has_returns = "\r\n" in whole_text and whole_text.count("\n") == whole_text.count("\r\n")
        mark = BYTE_ORDER_MARK if whole_text.startswith(BYTE_ORDER_MARK) else ""
        text = whole_text.removeprefix(mark).replace("\r\n", "\n") if has_returns else whole_text.removeprefix(mark)
        try:
            settings = _settings_in(text, is_toml=is_toml)
        except NOT_READ as error:
            form = "TOML" if is_toml else "JSON"
            raise UnusableSettings(f"{file} is not {form}, and was not changed ({error})") from error
        return cls(file, text, settings, "\r\n" if has_returns else "\n", is_toml, mark, whole_text)

    def text_with(self, settings: dict[str, Any], entries: Mapping[str, Entry]) -> str:
        """The text of settings that differ in our hooks, which are to be these."""
        if settings == self.settings:
            return self.text
        text = toml_text.replace_entries(self.text, entries) if self.is_toml else self._json_with(settings)
        try:
            is_right = _without_empty(_settings_in(text, is_toml=self.is_toml)) == _without_empty(settings)
        except NOT_READ:
            is_right = False
        if not is_right:
            raise UnusableSettings(
                f"{self.file} cannot be changed without touching more than our hooks: edit it by hand"
            )
        return text

    def _json_with(self, settings: dict[str, Any]) -> str:
        if json_text.has_comments(self.text, "hooks"):
            raise UnusableSettings(
                f"{self.file} has comments among its hooks, which would be lost: take them out, or edit it by hand"
            )
        if json_text.has_duplicates(self.text, "hooks"):
            raise UnusableSettings(
                f"{self.file} has a name twice in one object of its hooks, one of which would be lost: edit it by hand"
            )
        text = self.text
        for name in ("version", "hooks"):
            if settings.get(name) != self.settings.get(name):
                text = json_text.set_member(text, name, settings.get(name))
        return text

    def difference(self, text: str) -> str:
        before, after = self.text.splitlines(keepends=True), text.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, str(self.file), str(self.file)))

    def write(self, text: str) -> None:
        """`UnusableSettings` where somebody else has changed it since it was read, or nobody is to change it."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if _read_text(self.file) != self.whole_text:
            raise UnusableSettings(f"{self.file} was changed meanwhile, and was left as it is now: run this again")
        mode = stat.S_IMODE(self.file.stat().st_mode) if self.file.exists() else 0o600
        if not mode & 0o222:
            # It could be replaced all the same, in a folder that can be written.
            raise UnusableSettings(f"{self.file} is read-only, and was not changed")
        own.write(self.file, self.mark + text.replace("\n", self.line_end), mode=mode)


def _read_text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UnusableSettings(f"{file} is not UTF-8") from error


def _settings_in(text: str, *, is_toml: bool) -> dict[str, Any]:
    return toml_text.read(text) if is_toml else json_text.read(text)


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """Of what stood in a table, its header may be left."""
    return {name: value for name, value in settings.items() if name != "hooks" or value}
