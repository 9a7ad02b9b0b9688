"""Answers to an interrupt that does not say what it takes: a person chooses what the graph gets."""

from dataclasses import dataclass
from typing import Any

from interlock_client.cli.terminal.editing import read_any
from interlock_client.cli.terminal.revealing import Line, Piece, json_line, json_text


@dataclass(frozen=True, slots=True)
class Chosen:
    sent: Any
    """As the server takes it: it refuses a bare text that reads as a refusal."""
    given: Any
    """What the graph gets."""

    @property
    def line(self) -> Line:
        return (Piece("the graph gets ", "quiet"), *json_line(json_text(self.given, indent=None)))


YES, NO = Chosen(True, True), Chosen(False, False)


def text(typed: str) -> Chosen:
    return Chosen(typed, typed)


def json(typed: str) -> Chosen:
    """`NotJson` where it is none."""
    value = read_any(typed)
    return Chosen({"json": value}, value)
