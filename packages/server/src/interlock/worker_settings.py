"""What a server hands its workers through Ray, and what they find on their own node: what Ray is given, its nodes and
its dashboard can show, so no key and no password goes that way."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from interlock.config import Config, in_environment

_GIVEN = (
    "database", "bus", "agents", "runner", "locale", "model", "risks", "worker_runs", "lease_seconds", "log_level",
    "otlp_endpoint", "open_per_conversation", "open_per_owner", "open_in_all",
)  # fmt: skip
_ADDRESSES = ("database", "bus")
"""Of these, what may have a password in it."""


def given_to_ray(config: Config) -> dict[str, Any]:
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


def without_password(url: str) -> str:
    if url.startswith("postgres"):
        return _database_without_password(url)
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    bare = url.replace(parts.netloc, f"{name}{at}{place}" if name else place, 1) if parts.netloc else url
    if "password" not in dict(parse_qsl(parts.query)):
        return bare
    rest = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "password"]
    return bare.replace(parts.query, urlencode(rest))


def _database_without_password(url: str) -> str:
    """As the driver reads it: a password may hold signs that end the place of a server in other addresses."""
    from sqlalchemy.engine import URL, make_url

    known = make_url(url).difference_update_query(("password", "sslpassword"))
    bare = URL.create(known.drivername, known.username, None, known.host, known.port, known.database, known.query)
    return bare.render_as_string(hide_password=False)
