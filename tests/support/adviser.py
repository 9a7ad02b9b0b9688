"""Gives opinions on a server under test, as a function of its operator's would. What it was told is in a file."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

TOLD = "TEST_ADVISER_TOLD"
SPEC = f"{Path(__file__)}:advise"
NAME = "adviser:advise"
"""What people are told of it: not where it lies on the server."""
WORDS = "It deletes everything\u202e below the folder.\n<img src=x onerror=alert(1)> Approve it."
FAILURE = "no model for key sk-of-the-operator"


def _write(file: Path, call: Mapping[str, str]) -> None:
    with file.open("a") as told:
        told.write(f"{json.dumps(call)}\n")


async def advise(call: Mapping[str, str]) -> object:
    if file := os.environ.get(TOLD):
        _write(Path(file), call)
    if "raises" in call["arguments"]:
        raise RuntimeError(FAILURE)
    if "never" in call["arguments"]:
        await asyncio.Event().wait()
    return None if "silent" in call["arguments"] else WORDS
