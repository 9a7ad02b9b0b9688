"""Answers to an interrupt that does not say what it takes: a person chooses what the graph gets."""

from dataclasses import dataclass
from typing import Any

from interlock_client.cli.terminal.editing import read_any
from interlock_client.cli.terminal.revealing import Line, Piece, json_line, json_text


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    sent: Any
    """As the server takes it: it refuses a bare text that reads as a refusal."""
    given: Any
    """What the graph gets."""

    @property
    def line(self) -> Line:
        return (Piece("the graph gets ", "quiet"), *json_line(json_text(self.given, indent=None)))


YES, NO = FreeAnswer(True, True), FreeAnswer(False, False)


def text(typed: str) -> FreeAnswer:
    return FreeAnswer(typed, typed)


def json(typed: str) -> FreeAnswer:
    """`NotJson` where it is none."""
    value = read_any(typed)
    return FreeAnswer({"json": value}, value)
