"""An agent that does what the message says, turn by turn, so that a test decides what happens and when.

A message is a JSON list of turns: `{"say": [piece, ...], "calls": [{"name", "args"}], "fail": text}`. After the last
turn the agent repeats what its tools told it. Gates and counts are the witness's (`tests.support.witness`).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FILE = Path(__file__).resolve().with_name("puppet_agent.py")
SPEC = f"puppet={_FILE}:agent"
DEMO_SPEC = f"demo={_FILE}:demo"
WORKSPACE = "PUPPET_WORKSPACE"
"""The variable that names the demo agent's folder."""

Turn = dict[str, Any]
Call = tuple[str, dict[str, Any]]
Piece = str | dict[str, Any]


def script(*turns: Turn) -> str:
    return json.dumps(turns, ensure_ascii=False)


def says(*pieces: Piece) -> Turn:
    return {"say": list(pieces)}


def gate(name: str) -> Piece:
    """Where the agent stops until the test releases it; `at:NAME` is counted when it gets there."""
    return {"gate": name}


def slowly(text: str, seconds: float) -> Piece:
    """Word by word, with that much time before each."""
    return {"slowly": text, "seconds": seconds}


def flood(count: int, text: str) -> Piece:
    """The text so many times, numbered, as fast as it goes."""
    return {"flood": count, "text": text}


def calls(*named: Call, say: Sequence[Piece] = ()) -> Turn:
    return {"say": list(say), "calls": [{"name": name, "args": args} for name, args in named]}


def fails(text: str) -> Turn:
    return {"fail": text}
