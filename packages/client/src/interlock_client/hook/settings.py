"""Where the server is, and the key to ask with: the environment, then what `install` kept."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from interlock_client.hook.call import object_of

URL = "http://127.0.0.1:8000"


class Misconfigured(Exception):
    """The settings cannot be used; the message says what to do."""


class Settings(NamedTuple):
    url: str = URL
    key: str = ""

    def __repr__(self) -> str:
        """Without the key."""
        return f"Settings(url={self.url!r})"


def load(environment: Mapping[str, str] | None = None) -> Settings:
    given = os.environ if environment is None else environment
    values = _read_settings(settings_file(given))
    url = given.get("INTERLOCK_URL", "").strip() or values.get("url") or URL
    # A key is for the server that it was given for.
    of_kept = values.get("key", "") if url == (values.get("url") or URL) else ""
    return Settings(url, given.get("INTERLOCK_KEY", "").strip() or of_kept)


def keep(settings: Settings, environment: Mapping[str, str] | None = None) -> Path:
    """Write them where `load` finds them, for nobody else to read."""
    file = settings_file(os.environ if environment is None else environment)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(file, json.dumps({"url": settings.url, "key": settings.key}, indent=2) + "\n", mode=0o600)
    return file


def settings_file(environment: Mapping[str, str]) -> Path:
    return _home(environment, "XDG_CONFIG_HOME", ".config") / "interlock" / "hook.json"


def notes_folder(environment: Mapping[str, str] | None = None) -> Path:
    given = os.environ if environment is None else environment
    return _home(given, "XDG_STATE_HOME", ".local/state") / "interlock" / "hook"


def write(file: Path, text: str, *, mode: int) -> None:
    """All of it or nothing."""
    import tempfile

    handle, written = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
        os.chmod(written, mode)
        os.replace(written, file)
    except BaseException:
        Path(written).unlink(missing_ok=True)
        raise


def _home(environment: Mapping[str, str], variable: str, otherwise: str) -> Path:
    path = Path(environment.get(variable, "").strip())
    # A relative one is to be ignored, says the standard that names it.
    return path if path.is_absolute() else Path.home() / otherwise


def _read_settings(file: Path) -> dict[str, str]:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            read = object_of(json.loads(opened.read()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{file} cannot be read ({error}): remove it, and run `interlock-hook install`") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise Misconfigured(f"others may read {file}, which holds a key: run `chmod 600 {file}`")
    if read is None:
        raise Misconfigured(f"{file} is not what `interlock-hook install` wrote: remove it, and install again")
    return {name: value for name, value in read.items() if isinstance(value, str)}
