"""Gemini CLI itself, from npm."""

import json
from pathlib import Path

from tests.support.node import node

PACKAGE = Path(__file__).parent / "agents" / "node_modules" / "@google" / "gemini-cli"


def command() -> list[str]:
    assert PACKAGE.exists(), "the npm package @google/gemini-cli is missing: `make test` installs it"
    script = PACKAGE / json.loads((PACKAGE / "package.json").read_text())["bin"]["gemini"]
    return [node(), str(script)]
