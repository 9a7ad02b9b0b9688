"""What a person is shown of a request before they answer: complete, in one spelling, with a digest over it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from interlock.domain.canonical import digest
from interlock.domain.grant import GrantScope, Remember
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds import ApprovalBody
from interlock.domain.preview import FilePreview
from interlock.domain.request import Request
from interlock.domain.summary import command_line, summary

LONGEST_HEADLINE = 200
MOST_COMPARED = 400
"""Lines, of which so many are compared in a moment."""


class ViewType(StrEnum):
    COMMAND = "command"
    FILE = "file"
    JSON = "json"
    NONE = "none"
    """Nothing would run: something is asked."""


def view_type(request: Request) -> ViewType:
    if not isinstance(request.body, ApprovalBody):
        return ViewType.NONE
    if command_line(request.body.args) is not None:
        return ViewType.COMMAND
    if request.file is not None and not request.file.is_deleted:
        return ViewType.FILE
    return ViewType.JSON


@dataclass(frozen=True, slots=True)
class RenderedView:
    """What will run, line by line and to the end."""

    lines: Sequence[str] = ()
    rest: Sequence[str] = ()
    """The arguments beside a command: apart from it, so that no command can look as if it had some."""
    details: Sequence[str] = ()
    """What else a graph handed over with its interrupt."""


def render(request: Request) -> RenderedView:
    body = request.body
    details = () if body.details is ABSENT else json.dumps(body.details, ensure_ascii=False, indent=2).split("\n")
    if not isinstance(body, ApprovalBody):
        return RenderedView(details=details)
    args: JsonObject = dict(body.args)
    if view_type(request) is ViewType.COMMAND:
        command = args.pop("command").split("\n")
        return RenderedView(command, _json_lines(args) if args else (), details)
    return RenderedView(_json_lines(args), details=details)


def _json_lines(args: JsonObject) -> list[str]:
    return json.dumps(args, ensure_ascii=False, indent=2, sort_keys=True).split("\n")


def changed_lines(file: FilePreview | None) -> tuple[int, int] | None:
    """How many lines the call would add to its file and take from it; None where that cannot be said at a glance."""
    if file is None or file.after is None or (file.exists and file.text is None):
        return None
    before, after = (file.text or "").splitlines(), file.after.splitlines()
    start = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    start = min(len(before), len(after)) if start is None else start
    before, after = before[start:], after[start:]
    if len(before) + len(after) > MOST_COMPARED:
        return None
    same = sum(block.size for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks())
    return len(after) - same, len(before) - same


def headline(request: Request, change: tuple[int, int] | None = None) -> str:
    """One line that tells requests apart in a list; the whole is on the request's own page."""
    body = request.body
    text = summary(body.tool_name, body.args, change) if isinstance(body, ApprovalBody) else body.headline
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_HEADLINE else line[: LONGEST_HEADLINE - 1] + "…"


def shown_digest(request: Request) -> str:
    """The digest of what is shown: of the tool and its arguments, or of all that is asked."""
    return request.digest or digest({"kind": request.kind, "body": request.body.to_json()})


def code_of(request: Request) -> str:
    """Four digits that stand after the last line of what will run; a yes to what is risky has to repeat them.

    Others for each request: those of a call that comes again and again would be learned by the fingers.
    """
    return f"{int(digest([request.id, shown_digest(request)])[:8], 16) % 10_000:04}"


def needs_code(request: Request, given: Mapping[str, JsonValue] | None, remember: Remember | None = None) -> bool:
    """Whether an answer takes a deliberate second act: a yes to a risky call, a dangerous option, a wide promise."""
    is_wide = remember is not None and (remember.scope is GrantScope.ALL_TOOLS or remember.also_high_risk)
    return request.body.needs_code(given or {}) or (is_wide and isinstance(request.body, ApprovalBody))


def is_batchable(request: Request) -> bool:
    """Among others only the call itself is shown, and not whom it is put to."""
    body = request.body
    if request.routing is not None:
        return False
    if not isinstance(body, ApprovalBody) or body.details is not ABSENT or body.preview is not None:
        return False
    return body.risk_level == "low" and body.takes("accept")
