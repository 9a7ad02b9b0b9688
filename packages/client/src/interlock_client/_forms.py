"""What is asked, as a person is shown it, and what is no approval as a form of a few fields."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock_client._confirmations import ConfirmationRequest
from interlock_client._wording import Wording
from interlock_client.visible import visible

CUSTOM = "__custom__"
"""The value of the option that stands for an answer in one's own words."""

_BOOLEANS = {"true": True, "false": False}

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    label: str
    options: tuple[tuple[str, str], ...] = ()
    """Values, and what they are called."""
    allow_custom: bool = True
    required: bool = True
    secret: bool = False

    def value_of(self, text: str) -> str | None:
        """What was typed or chosen: the number of an option, its value, or own words; None when it cannot be taken."""
        if self.secret and text:
            return text  # As it was typed.
        text = text.strip()
        if not text:
            return None if self.required else ""
        if self.options and text.isascii() and text.isdigit() and 0 < int(text) <= len(self.options):
            return self.options[int(text) - 1][0]
        if text in [value for value, _ in self.options] or self.allow_custom:
            return text
        return None


def rows_of(request: ConfirmationRequest, wording: Wording) -> list[str]:
    """What is to be confirmed, as a person is shown it: nothing in it is hidden."""
    word = wording.text
    rows = [f"{word('message')}: {visible(request.message)}"]
    if request.kind != "approval":
        return rows
    arguments = json.dumps(request.tool_args, indent=2, ensure_ascii=False)
    return [
        *rows,
        f"{word('tool')}: {visible(request.tool_name, keep='')}",
        f"{word('description')}: {visible(request.tool_description)}",
        f"{word('risk')}: {visible(request.risk_level, keep='')}",
        f"{word('arguments')}: {visible(arguments)}",
    ]


def fields_of(request: ConfirmationRequest) -> list[Field]:
    """Nothing for an approval, and for a kind that this version does not know."""
    read = _FORMS.get(request.kind)
    return read[0](request.request) if read else []


def response_of(request: ConfirmationRequest, values: Sequence[str]) -> dict[str, Any]:
    """In the order of the fields."""
    body = request.request
    if request.kind == "clarification" and body.get("free") and values[0] not in (body.get("options") or ()):
        # It takes any JSON: these two are no texts, unless the graph offers them as such.
        return {"answer": _BOOLEANS.get(values[0], values[0])}
    return _FORMS[request.kind][1](fields_of(request), values)


def _clarification(body: Body) -> list[Field]:
    options = tuple((str(one), str(one)) for one in body.get("options") or ())
    if body.get("free"):
        options += tuple((word, word) for word in _BOOLEANS if word not in dict(options))
    return [Field("answer", str(body.get("question", "")), options, bool(body.get("allow_custom", True)))]


def _decision(body: Body) -> list[Field]:
    options = tuple((str(one["key"]), str(one.get("label") or one["key"])) for one in body.get("options") or ())
    lines = [body.get("title", ""), body.get("description", ""), *(f"! {risk}" for risk in body.get("risks") or ())]
    return [Field("decision", "\n".join(str(line) for line in lines if line), options, allow_custom=False)]


def _env_var(body: Body) -> list[Field]:
    return [
        Field(
            str(one["name"]),
            " ".join(str(part) for part in (one.get("label") or one["name"], one.get("description")) if part),
            required=bool(one.get("required", True)),
            secret=bool(one.get("sensitive", True)),
        )
        for one in body.get("fields") or ()
    ]


def _questions(body: Body) -> list[Field]:
    return [_question(place, one) for place, one in enumerate(body.get("questions") or ())]


def _question(place: int, question: Body) -> Field:
    options: Sequence[Body] = question.get("options") or ()
    offered = tuple((str(one["value"]), str(one.get("label") or one["value"])) for one in options)
    custom = not options or any(one.get("allow_custom") for one in options)
    choices = tuple((value, label) for value, label in offered if value != CUSTOM)
    return Field(str(place), str(question.get("question", "")), choices, custom)


_FORMS: Mapping[
    str, tuple[Callable[[Body], list[Field]], Callable[[Sequence[Field], Sequence[str]], dict[str, Any]]]
] = {
    "clarification": (_clarification, lambda _fields, values: {"answer": values[0]}),
    "decision": (_decision, lambda _fields, values: {"decision": values[0]}),
    "env_var": (
        _env_var,
        lambda fields, values: {
            "values": {one.name: value for one, value in zip(fields, values, strict=True) if value}
        },
    ),
    "questions": (_questions, lambda _fields, values: {"answers": list(values)}),
}
