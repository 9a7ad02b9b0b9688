"""What a server hands its workers through Ray, and what they find on their own node: what Ray is given, its nodes and
its dashboard can show, so no key and no password goes that way."""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from interlock import __version__
from interlock.config import Config, in_environment
from interlock.domain.errors import InvalidInput

_GIVEN = (
    "database", "bus", "agents", "runner", "locale", "model", "risks", "worker_runs", "lease_seconds", "log_level",
    "otlp_endpoint", "open_per_conversation", "open_per_owner", "open_in_all",
)  # fmt: skip
_ADDRESSES = ("database", "bus", "otlp_endpoint")
"""Of these, what may have a password in it."""


def settings_for_ray(config: Config) -> dict[str, Any]:
    given: dict[str, Any] = {name: getattr(config, name) for name in _GIVEN}
    given["data"] = config.data.resolve()
    return given | {name: without_password(url) for name in _ADDRESSES if (url := given[name])}


def with_own_passwords(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as a worker uses them: with the passwords that its own environment has for the same addresses."""
    own = {name: url for name in _ADDRESSES if (url := in_environment(name))}
    return {**given, **{name: url for name, url in own.items() if without_password(url) == given.get(name)}}


def addresses(config: Config) -> dict[str, str]:
    """For the environment of a Ray of the server's own: it is started by the server, and takes it over."""
    return {f"INTERLOCK_{name.upper()}": url for name in _ADDRESSES if (url := getattr(config, name))}


def fingerprint(config: Config, runtime_env: Mapping[str, Any], key: bytes) -> bytes:
    """Another one when a worker would be another: its settings, passwords too, or its code. Nothing comes out of it
    without the key."""
    values = {
        "version": __version__,
        # Servers of one deployment may have their data in different places.
        "settings": settings_for_ray(config) | addresses(config) | {"data": None},
        "workers": [config.workers, config.worker_memory, dict(runtime_env)],
        "code": [hashlib.sha256(file.read_bytes()).hexdigest() for file in _code(config)],
    }
    return hmac.digest(key, json.dumps(values, sort_keys=True, default=str).encode(), "sha256")


def _code(config: Config) -> Iterator[Path]:
    """The server's own, and the files that the agents are named by."""
    yield from sorted(Path(__file__).parent.rglob("*.py"))
    for spec in config.agents:
        where = spec.partition("=")[2].rpartition(":")[0]
        found = None if where.endswith(".py") else find_spec(where)
        file = Path((found.origin or "") if found else where)
        if file.is_file():
            yield file


def runtime_env(file: Path) -> dict[str, Any]:
    """What Ray is to ship, as the operator wrote it."""
    try:
        shipped: Any = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"INTERLOCK_RAY_RUNTIME_ENV={file}: {error}") from error
    if not isinstance(shipped, dict):
        raise InvalidInput(f"INTERLOCK_RAY_RUNTIME_ENV={file}: it must hold a JSON object")
    return cast("dict[str, Any]", shipped)


def without_password(url: str) -> str:
    if url.startswith("postgres"):
        return _database_without_password(url)
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        # Of a collector: a token may be the name of a user, or stand in the query.
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    user, at, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    bare = url.replace(parts.netloc, f"{name}{at}{place}" if name else place, 1) if parts.netloc else url
    query = parse_qsl(parts.query, keep_blank_values=True)
    rest = [pair for pair in query if "password" not in pair[0]]
    return bare if rest == query else bare.replace(parts.query, urlencode(rest))


def _database_without_password(url: str) -> str:
    """As the driver reads it: a password may hold signs that end the place of a server in other addresses."""
    from sqlalchemy.engine import URL, make_url

    known = make_url(url).difference_update_query(("password", "sslpassword"))
    bare = URL.create(known.drivername, known.username, None, known.host, known.port, known.database, known.query)
    return bare.render_as_string(hide_password=False)
