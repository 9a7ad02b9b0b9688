"""What a person is shown of a request before they answer: complete, in one spelling, with a digest over it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from interlock.domain.canonical import digest
from interlock.domain.grant import GrantScope, Remember
from interlock.domain.interrupt_value import whole_text
from interlock.domain.request import Request, RequestKind
from interlock.domain.risk import NEEDS_CODE

LONGEST_HEADLINE = 200
DANGEROUS_STYLES = ("danger", "destructive", "critical", "warning")
"""Words for an option that who asks warns of; what they call harmless is not believed."""


class ViewType(StrEnum):
    COMMAND = "command"
    FILE = "file"
    JSON = "json"
    NONE = "none"
    """Nothing would run: something is asked."""


@dataclass(frozen=True, slots=True)
class FileBehind:
    """The file that a call would change, as it is now, and what it would be after."""

    path: str
    exists: bool
    text: str | None
    """None where it is no text, or too long."""
    sha256: str
    """Of its content; of nothing where it does not exist."""
    modified_at: datetime | None
    after: str | None
    """None where the call would fail."""


def view_type(request: Request) -> ViewType:
    if request.kind is not RequestKind.APPROVAL:
        return ViewType.NONE
    args: Mapping[str, Any] = request.body["args"]
    if isinstance(args.get("command"), str):
        return ViewType.COMMAND
    if request.tool in ("write_file", "edit_file"):
        return ViewType.FILE
    return ViewType.JSON


@dataclass(frozen=True, slots=True)
class Written:
    """What will run, line by line and to the end."""

    lines: Sequence[str] = ()
    rest: Sequence[str] = ()
    """The arguments beside a command: apart from it, so that no command can look as if it had some."""
    details: Sequence[str] = ()
    """What else a graph handed over with its interrupt."""


def written(request: Request) -> Written:
    body = request.body
    details = json.dumps(body["details"], ensure_ascii=False, indent=2).split("\n") if "details" in body else ()
    if request.kind is not RequestKind.APPROVAL:
        return Written(details=details)
    args: dict[str, Any] = dict(body["args"])
    if view_type(request) is ViewType.COMMAND:
        command = args.pop("command").split("\n")
        return Written(command, _spelled(args) if args else (), details)
    return Written(_spelled(args), details=details)


def _spelled(args: Mapping[str, Any]) -> list[str]:
    return json.dumps(args, ensure_ascii=False, indent=2, sort_keys=True).split("\n")


def headline(request: Request) -> str:
    """One line that tells requests apart in a list; the whole is on the request's own page."""
    body = request.body
    match request.kind:
        case RequestKind.APPROVAL:
            text = (
                f"{request.tool} {' '.join(json.dumps(value, ensure_ascii=False) for value in body['args'].values())}"
            )
        case RequestKind.CLARIFICATION:
            text = body["question"]
        case RequestKind.DECISION:
            text = body["title"]
        case RequestKind.ENV_VAR:
            text = ", ".join(field["name"] for field in body["fields"])
        case RequestKind.QUESTIONS:
            text = whole_text(body) or body["questions"][0]["question"]
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_HEADLINE else line[: LONGEST_HEADLINE - 1] + "…"


def shown_digest(request: Request) -> str:
    """The digest of what is shown: of the tool and its arguments, or of all that is asked."""
    return request.digest or digest({"kind": request.kind, "body": request.body})


def code_of(request: Request) -> str:
    """Four digits that stand behind the last line of what will run; a yes to what is risky has to repeat them.

    Others for each request: those of a call that comes again and again would be learned by the fingers.
    """
    return f"{int(digest([request.id, shown_digest(request)])[:8], 16) % 10_000:04}"


def takes_code(request: Request) -> bool:
    """Whether there is an answer to it that has to repeat the code."""
    if request.kind is RequestKind.DECISION:
        return any(needs_code(request, {"decision": one["key"]}) for one in request.body["options"])
    return request.kind is RequestKind.APPROVAL


def needs_code(request: Request, value: Mapping[str, Any] | None, remember: Remember | None = None) -> bool:
    """Whether an answer takes a deliberate second act: a yes to a risky call, a dangerous option, a wide promise."""
    decision = value.get("decision") if value is not None else None
    if request.kind is RequestKind.DECISION:
        options: Sequence[Mapping[str, str]] = request.body["options"]
        return any(one["key"] == decision and one["style"].lower() in DANGEROUS_STYLES for one in options)
    if request.kind is not RequestKind.APPROVAL:
        return False
    is_wide = remember is not None and remember.scope is GrantScope.ALL_TOOLS
    return (decision in ("accept", "edit") and request.risk in NEEDS_CODE) or is_wide


def is_batchable(request: Request) -> bool:
    """Among others only the call itself is shown."""
    if request.kind is not RequestKind.APPROVAL or "details" in request.body:
        return False
    return request.risk == "low" and "accept" in request.body["allowed"]
