"""What a call would do, shown to people before it runs: the change of a file, a text, a table, or why there is none."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from difflib import unified_diff

from interlock.domain.json_value import JsonObject, JsonValue

MOST_LINES = 2_000
"""So many lines of a difference or a text go with a request; of a file the inbox shows the whole change."""
MOST_COMPARED = 5_000
"""Lines that are compared: with more it takes seconds."""
MOST_ROWS = 200
LONGEST_KEPT = 128 * 1024
"""Characters of a file that are kept with a request, where they cannot be read again when somebody looks."""
LONGEST_REASON = 300
LONGEST_CELL = 2_000

FILE_SHOWN, INBOX = "file_shown", "web"
"""Where an answer from the inbox says which file its sender saw."""

Redact = Callable[[str], str]
After = str | Callable[[str], str | None] | None


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The file that a call would change, as it is now, and what it would be after."""

    path: str
    exists: bool
    text: str | None
    """None where it is no text, or too long."""
    sha256: str
    """Of its content; of nothing where it does not exist."""
    modified_at: datetime | None
    after: str | None
    """None where the call would fail, or deletes it."""
    is_deleted: bool = False
    on_disk: bool = True
    """Whether it can change while somebody reads; a file in the state of a paused graph cannot."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[JsonValue]]


@dataclass(frozen=True, slots=True)
class NoPreview:
    reason: str


Preview = FilePreview | Text | Table | NoPreview


def change(
    path: str,
    before: bytes | None,
    after: After,
    *,
    modified_at: datetime | None = None,
    is_deleted: bool = False,
    on_disk: bool = True,
) -> FilePreview:
    """The change of a file that holds `before`, or does not exist; `after` may be made of the text that it holds."""
    text = None if before is None else _text(before)
    if callable(after):
        after = None if text is None else after(text)
    sha256 = hashlib.sha256(before or b"").hexdigest()
    return FilePreview(path, before is not None, text, sha256, modified_at, after, is_deleted, on_disk)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def redact_preview(file: FilePreview, redact: Redact) -> FilePreview:
    """Without what people gave in confidence; the digest stays that of the file."""
    text, after = (None if one is None else redact(one) for one in (file.text, file.after))
    return replace(file, text=text, after=after)


def as_body(preview: Preview, redact: Redact) -> JsonObject:
    """As it goes with the request, to every face."""
    match preview:
        case FilePreview():
            return {"type": "diff", "path": preview.path, **_truncate(_difference(redact_preview(preview, redact)))}
        case Text():
            return {"type": "text", **_truncate(redact(preview.text).split("\n"))}
        case Table():
            rows = [[redact(str(cell))[:LONGEST_CELL] for cell in row] for row in preview.rows[:MOST_ROWS]]
            left = len(preview.rows) - len(rows)
            return {"type": "table", "columns": [str(one) for one in preview.columns], "rows": rows, "left_out": left}
        case NoPreview():
            return {"type": "none", "reason": redact(preview.reason)[:LONGEST_REASON]}


def _difference(file: FilePreview) -> list[str]:
    before, after = (file.text or "").splitlines(), (file.after or "").splitlines()
    if file.exists and file.text is None:
        return ["(the file as it is cannot be shown: it is no text, or too long)"]
    if file.after is None and not file.is_deleted:
        return ["(what would come of the file is not known: the call would fail)"]
    if len(before) + len(after) > MOST_COMPARED:
        return [f"(too long to compare: {len(before)} lines before, {len(after)} after)"]
    names = ("/dev/null" if not file.exists else file.path), ("/dev/null" if file.is_deleted else file.path)
    return list(unified_diff(before, after, *names, lineterm=""))


def _truncate(lines: Sequence[str]) -> JsonObject:
    return {"lines": list(lines[:MOST_LINES]), "left_out": max(0, len(lines) - MOST_LINES)}


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it is kept with a request: what the call is held against before it runs, its text where it is short."""

    file: FilePreview
    host: str
    """The machine that it was read on."""

    @classmethod
    def of(cls, file: FilePreview, redact: Redact, host: str) -> "FileSnapshot":
        public = redact_preview(file, redact)
        is_short = len(public.text or "") + len(public.after or "") <= LONGEST_KEPT
        text, after = (public.text, public.after) if is_short else (None, None)
        return cls(replace(file, modified_at=None, text=text, after=after), host)

    def to_json(self) -> JsonObject:
        data = asdict(self.file) | {"host": self.host}
        del data["modified_at"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> "FileSnapshot":
        names = {field.name for field in fields(FilePreview)} - {"modified_at"}
        known = {name: value for name, value in data.items() if name in names}
        return cls(FilePreview(modified_at=None, **known), data["host"])
