"""What a person sets for the commands that talk to a server: flags, then the environment, then defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """What the commands need that talk to a running server."""

    url: str = "http://127.0.0.1:8000"
    key: str | None = field(default=None, repr=False)
    user: str | None = None
    """For a server without accounts: who is calling."""
    credentials: Path = Path(".config/interlock/credentials.json")
    editor: str | None = None


CLIENT_VARIABLES = ("INTERLOCK_URL", "INTERLOCK_KEY")


def load_client(given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> ClientConfig:
    """The settings of a client; `given` holds the flags that were set, by field name."""
    environment = os.environ if environment is None else environment
    settings: dict[str, Any] = {
        "url": environment.get("INTERLOCK_URL", "").strip(),
        "key": environment.get("INTERLOCK_KEY", "").strip(),
        "editor": (environment.get("VISUAL") or environment.get("EDITOR") or "").strip(),
    }
    settings |= {name: value for name, value in (given or {}).items() if value is not None}
    home = environment.get("XDG_CONFIG_HOME", "").strip()
    # A relative one is to be ignored, says the standard that names it.
    folder = Path(home) if Path(home).is_absolute() else Path.home() / ".config"
    set_ones = {name: value for name, value in settings.items() if value}
    return ClientConfig(credentials=folder / "interlock" / "credentials.json", **set_ones)


def variables() -> Mapping[str, str]:
    """All that is set where the command runs."""
    return os.environ


def opencode_login() -> tuple[str, str]:
    """The password of `opencode serve`, and its user; empty where none is set."""
    return os.environ.get("OPENCODE_SERVER_PASSWORD", ""), os.environ.get("OPENCODE_SERVER_USERNAME", "")
