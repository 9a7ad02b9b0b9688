"""What `interlock doctor` has found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    level: Literal["ok", "warn", "fail"]
    about: str
    text: str
    """With what to do, where something is to be done."""


def ok(about: str, text: str) -> Finding:
    return Finding("ok", about, text)


def warn(about: str, text: str) -> Finding:
    return Finding("warn", about, text)


def fail(about: str, text: str) -> Finding:
    return Finding("fail", about, text)
