"""Events as lines on standard output: what an agent says piece by piece, everything else a line each."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import typer
from pydantic import BaseModel

from interlock_client.cli.terminal.revealing import Line, json_text
from interlock_client.cli.terminal.wording import end_text, one_line, outcome
from interlock_client.events import (
    ChatEvent,
    End,
    Failed,
    InboxAsked,
    InboxChanged,
    InboxEvent,
    InboxExtended,
    InboxGone,
    InboxSettled,
    Interrupt,
    Partial,
    RequestAsked,
    RequestEvent,
    RequestSettled,
    ToolEnd,
    ToolStart,
)
from interlock_client.visible import visible

LONGEST = 500
_MARKS = {"success": "✓", "failed": "✗", "refused": "⊘", "replied": "↩"}
_STATUS = {"request_cancelled": "cancelled", "request_expired": "expired"}


class EventPrinter:
    def __init__(self, *, as_json: bool = False, tells_requests: bool = True) -> None:
        self._as_json = as_json
        self._tells_requests = tells_requests
        self._in_text = False

    def print_event(self, event: ChatEvent | RequestEvent | InboxEvent) -> None:
        if self._as_json:
            typer.echo(json.dumps({"event": type(event).__name__, **_plain(event)}))
        elif isinstance(event, Partial):
            self._partial(event)
        elif text := _inbox_line(event) if isinstance(event, InboxEvent) else self._line(event):
            self.finish()
            typer.echo(text)
        elif isinstance(event, End):
            self.finish()

    def finish(self) -> None:
        """End the line that the agent's text is on."""
        if self._in_text:
            typer.echo()
        self._in_text = False

    def _partial(self, event: Partial) -> None:
        if event.reset:
            self.finish()
        # Blanks in place of tabs: those move the cursor by more than one.
        typer.echo(visible(event.content.replace("\t", "    ")), nl=False)
        self._in_text = True

    def _line(self, event: ChatEvent | RequestEvent) -> str:
        if isinstance(event, ToolStart):
            return f"⚙ {one_line(event.tool)} {_truncate(json_text(event.input, indent=None))}"
        if isinstance(event, ToolEnd):
            how = event.outcome or event.status
            mark = _MARKS.get(how) or _MARKS.get(event.status, "?")
            return f"{mark} {one_line(event.tool)} {how}: {_truncate(event.output)}"
        if isinstance(event, Failed):
            return f"✗ {_truncate(event.message)}"
        if isinstance(event, RequestAsked) and self._tells_requests:
            return f"? {event.request_id} {event.type}: {_truncate(_ask_line(event.data))}"
        if isinstance(event, RequestSettled) and self._tells_requests:
            return f"! {event.request_id} {outcome(event, _STATUS.get(event.type, 'answered'))}"
        return ""


def _inbox_line(event: InboxEvent) -> str:
    entry = event.entry
    match event:
        case InboxAsked():
            return f"? {entry.request_id} {entry.kind}, {one_line(entry.agent)}: {_truncate(entry.headline)}"
        case InboxSettled():
            return f"! {entry.request_id} {end_text(event)}"
        case InboxExtended():
            return f"… {entry.request_id} may be answered until {event.expires_at}."
        case InboxGone():
            return f"! {entry.request_id} is gone: the conversation was deleted, or is no longer yours."
        case InboxChanged():
            return f"… {entry.request_id} {_CHANGES.get(event.what, 'has changed')}."


_CHANGES = {
    "voted": "has one vote more, or one less",
    "claimed": "was claimed, or released",
    "routed": "is put to more people",
    "commented": "has a comment more",
}


def _ask_line(data: Mapping[str, Any]) -> str:
    if "tool_name" in data:
        return f"{data['tool_name']} {json_text(data.get('args') or {}, indent=None)}"
    if "fields" in data:
        return ", ".join(str(field["name"]) for field in data["fields"])
    return str(data.get("title") or data.get("question") or "")


def _truncate(text: str) -> str:
    """One line, and no more of it than a screen holds."""
    whole = one_line(text)
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}… ({len(text)} characters)"


def _plain(event: ChatEvent | RequestEvent | InboxEvent) -> dict[str, Any]:
    fields = asdict(event)
    if isinstance(event, InboxEvent):
        fields["entry"] = event.entry.model_dump(mode="json")
    if isinstance(event, Interrupt):
        fields["requests"] = [cast("BaseModel", one).model_dump(mode="json") for one in event.requests]
    return fields


def style(line: Line) -> str:
    """For a terminal: hidden characters reversed; colours are left out where the output is no terminal."""
    styles: dict[str, dict[str, Any]] = {
        "hidden": {"reverse": True},
        "name": {"bold": True},
        "quiet": {"dim": True},
        "added": {"fg": "green"},
        "removed": {"fg": "red"},
    }
    return "".join(typer.style(piece.text, **styles[piece.style]) if piece.style else piece.text for piece in line)
