"""What the operator sets: flags, then the environment, then defaults. The only file that reads the environment."""

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

import yaml

from interlock.domain.drill import USUAL
from interlock.domain.errors import InvalidInput
from interlock.domain.gateway import UpstreamSettings, read_upstreams
from interlock.domain.json_value import object_at
from interlock.domain.risk import RISK_LEVELS
from interlock.domain.sign_on import RoleRule, read_role_rules
from interlock.domain.subscription import BROWSERS
from interlock.texts import Locale
from interlock_client.cli.config import CLIENT_VARIABLES

Auth = Literal["accounts", "none"]

N = TypeVar("N", int, float)

DEMO = "demo"
_NEEDED = {
    "oidc_client_id": "the id that the provider gave this server",
    "public_url": "the address at which browsers reach this server, such as https://interlock.example.com",
}
_NEAR = 0.9
_BROWSERS = "browsers"
"""How like a setting's name another one is that was meant to be it: one letter, or two of a long one."""
_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*\Z")


@dataclass(frozen=True, slots=True)
class Config:
    host: str = "127.0.0.1"
    port: int = 8000
    data: Path = Path(".interlock")
    database: str | None = None
    bus: str | None = None
    auth: Auth = "accounts"
    agents: tuple[str, ...] = ()
    runner: Literal["local", "ray"] = "local"
    mcp_gateway: Path | None = None
    config: Path | None = None
    ray_address: str | None = None
    ray_runtime_env: Path | None = None
    workers: int = 2
    worker_runs: int = 32
    worker_memory: int | None = None
    locale: Locale = "zh"
    drills: int | None = None
    break_glass: bool = False
    second_opinion: str | None = None
    second_opinion_seconds: float = 20.0
    model: str | None = None
    registration: bool = True
    passwords: bool = True
    public_url: str | None = None
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = field(default=None, repr=False)
    oidc_name: str | None = None
    oidc_groups_claim: str = "groups"
    oidc_roles: tuple[RoleRule, ...] = ()
    oidc_hosts: tuple[str, ...] = ()
    risks: tuple[tuple[str, str], ...] = ()
    approval_timeout: float | None = None
    confirmation_timeout: float = 300.0
    confirmation_retry_limit: int = 3
    confirmation_batch_size: int = 1
    follow_grace: float = 5.0
    lease_seconds: float = 30.0
    retention_days: int | None = None
    secret_key: str | None = field(default=None, repr=False)
    new_secret_key: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    webhook_hosts: tuple[str, ...] = ()
    webhook_private: bool = False
    channel_hosts: tuple[str, ...] = ()
    push_hosts: tuple[str, ...] = ()
    apprise_services: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    rate_limit: float = 200.0
    rate_burst: int = 2_000
    streams_per_caller: int = 1_000
    open_per_conversation: int = 1_000
    open_per_owner: int = 10_000
    open_in_all: int = 100_000
    slow_seconds: float = 30.0
    request_seconds: float = 30.0
    connections_per_address: int = 1_000
    web_dir: Path | None = None
    metrics_token: str | None = field(default=None, repr=False)
    otlp_endpoint: str | None = None
    log_level: str = "info"
    log_format: str = "auto"
    failpoints: tuple[str, ...] = ()

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{self.data / 'interlock.db'}"

    @property
    def workspace(self) -> Path:
        return self.data / "workspace"

    @property
    def is_loopback(self) -> bool:
        return _is_loopback(self.host)


def load(given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration; `given` holds the flags that were set, by field name."""
    environment = os.environ if environment is None else environment
    _check_names(environment)
    flags = {name: value for name, value in (given or {}).items() if value not in (None, (), [])}
    settings: dict[str, Any] = {}
    for name, read in _VARIABLES.items():
        text = environment.get(f"INTERLOCK_{name.upper()}", "")
        if name in flags:
            value = flags[name]
            settings[name] = _read(f"--{name.replace('_', '-')} ", read, value) if isinstance(value, str) else value
        elif text.strip():
            settings[name] = _read(f"INTERLOCK_{name.upper()}=", read, text)
    config = Config(**settings)
    if config.config is not None:
        config = replace(config, agents=(*config.agents, *read_project(config.config).agents))
    _check(config)
    return config


@dataclass(frozen=True, slots=True)
class Project:
    """What a `langgraph.json` says: its graphs, where they import from, and what their environment is."""

    agents: tuple[str, ...]
    folders: tuple[Path, ...]
    environment: Mapping[str, str]


def read_project(path: Path) -> Project:
    """Paths in it are relative to it; packages that it names are not installed here."""
    try:
        read: Any = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise InvalidInput(f"--config {path}: {why}") from error
    given: dict[str, Any] = object_at(read)
    graphs, folder = object_at(given, "graphs"), path.resolve().parent
    if not graphs:
        raise InvalidInput(f"--config {path}: it names no graphs")
    agents = tuple(f"{name}={_graph(path, folder, one)}" for name, one in graphs.items())
    dependencies: list[Any] = given.get("dependencies") or []
    folders = [folder / one for one in dependencies if isinstance(one, str) and one.startswith(".")]
    return Project(agents, tuple(one.resolve() for one in folders), _project_environment(path, given.get("env")))


def _graph(path: Path, folder: Path, given: Any) -> str:
    target: Any = object_at(given).get("path") if isinstance(given, dict) else given
    where, _, attr = target.rpartition(":") if isinstance(target, str) else ("", "", "")
    if not where or not attr:
        raise InvalidInput(f"--config {path}: a graph is path/to/file.py:attr or package.module:attr")
    return f"{folder / where if where.endswith('.py') else where}:{attr}"


def _project_environment(path: Path, given: Any) -> dict[str, str]:
    if not isinstance(given, str):
        return {name: str(value) for name, value in object_at(given).items()}
    try:
        lines = (path.parent / given).read_text().splitlines()
    except OSError as error:
        raise InvalidInput(f"--config {path}: {given}: {error.strerror}") from error
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.strip().startswith("#"))
    return {name.strip(): _environment_value(value.strip()) for name, sign, value in pairs if sign}


def _environment_value(text: str) -> str:
    """Without its quotes, or what is remarked behind it."""
    quoted = re.match(r"""(["'])(.*?)\1""", text)
    return quoted[2] if quoted else re.split(r"\s#", text)[0].rstrip()


def enter_project(config: Config) -> None:
    """Give the graphs of a `langgraph.json` their folders and their environment; what is set already stays."""
    if config.config is None:
        return
    project = read_project(config.config)
    sys.path[:0] = [str(one) for one in project.folders if str(one) not in sys.path]
    for name, value in project.environment.items():
        os.environ.setdefault(name, value)


def _check_names(environment: Mapping[str, str]) -> None:
    """A mistyped variable would leave open what it was to close."""
    known = {f"INTERLOCK_{name.upper()}" for name in _VARIABLES} | set(CLIENT_VARIABLES)
    for name in sorted(environment.keys() - known):
        if name.startswith("INTERLOCK_") and (near := get_close_matches(name, known, 1, _NEAR)):
            raise InvalidInput(f"{name} is no setting: is it {near[0]} that is meant?")


def _read(name: str, read: Any, text: str) -> Any:
    try:
        return read(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{name}{text!r}: {error}") from error


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.replace(",", " ").split() if part)


def _hosts(text: str) -> tuple[str, ...]:
    hosts = _split(text.lower())
    for host in hosts:
        if not _HOST.match(host) and not _is_address(host):
            raise ValueError(f"{host} is no host name: hooks.example.com, or *.example.com for all under a name")
    return hosts


def _whole_hosts(text: str) -> tuple[str, ...]:
    hosts = _hosts(text)
    for host in hosts:
        if "*" in host:
            raise ValueError(f"{host} names no single host: name each one")
    return hosts


def _push_hosts(text: str) -> tuple[str, ...]:
    """`browsers` stands for the services of the browsers' makers."""
    named = [host for host in _split(text.lower()) if host != _BROWSERS]
    known = BROWSERS if _BROWSERS in _split(text.lower()) else ()
    return (*known, *_hosts(",".join(named)))


def _services(text: str) -> tuple[str, ...]:
    """Beginnings of addresses of Apprise."""
    services = _split(text.lower())
    for one in services:
        scheme, mark, host = one.partition("://")
        if not (scheme and mark) or set(host) & set("/?#@"):
            raise ValueError(f"{one} is no service: write tgram:// or ntfys://ntfy.example.com")
    return services


def _proxies(text: str) -> tuple[str, ...]:
    proxies = _split(text)
    for proxy in proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            if proxy != "*":
                raise ValueError(f"{proxy} is no address of a proxy: 10.0.0.7, 10.0.0.0/8, or * for anybody") from None
    return proxies


def _origins(text: str) -> tuple[str, ...]:
    origins = _split(text)
    for origin in origins:
        if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
            raise ValueError(f"{origin} is no origin: https://app.example.org, without a path")
    return origins


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _risks(text: str) -> tuple[tuple[str, str], ...]:
    pairs = tuple((tool, risk) for tool, _, risk in (part.partition("=") for part in _split(text)))
    for tool, risk in pairs:
        if not tool or risk not in RISK_LEVELS:
            raise ValueError(f"it must be TOOL=RISK, where RISK is one of {', '.join(RISK_LEVELS)}")
    return pairs


def _switch(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on", "open"):
        return True
    if text.lower() in ("0", "false", "no", "off", "closed"):
        return False
    raise ValueError("it must be on or off")


def _one_of(*words: str) -> Any:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"it must be one of {', '.join(words)}")
        return text

    return read


def _number(kind: type[N], text: str) -> N:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"it must be a {'whole ' if kind is int else ''}number") from None


def _seconds(text: str) -> float:
    value = _number(float, text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a number of seconds above 0")
    return value


def _opinion_seconds(text: str) -> float:
    value = _seconds(text)
    if value > 25:
        # The page, which waits 30 s for any reply, could not tell then why there is none.
        raise ValueError("it must be 25 seconds at the most")
    return value


def _rate(text: str) -> float:
    value = _number(float, text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a number of requests a second, above 0")
    return value


def _count(text: str) -> int:
    value = _number(int, text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a whole number above 0")
    return value


def _days(text: str) -> int:
    value = _number(int, text)
    if not 0 < value <= 36_500:
        raise ValueError("it must be a whole number of days, from 1 to 36500")
    return value


def _bytes(text: str) -> int:
    value = _number(int, text)
    if value < 1024 * 1024:
        raise ValueError("it must be a number of bytes, 1048576 (1 MiB) or more")
    return value


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise ValueError("it must be a number between 0 and 65535")
    return int(text)


def _folder(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise ValueError("there is no such folder")
    return folder


def _parse_path(text: str) -> Path:
    if not text.strip():
        raise ValueError("it is empty: name a folder, or . for this one")
    return Path(text)


def _database(text: str) -> str:
    if text.partition(":")[0].partition("+")[0] not in ("sqlite", "postgresql"):
        raise ValueError("it must be sqlite:///path/to/file.db or postgresql://user@host/name")
    return text


def _bus(text: str) -> str:
    if text.partition("://")[0] not in ("redis", "rediss"):
        raise ValueError("it must be redis://host:port/number, or rediss:// over TLS")
    return text


def _address(text: str) -> str:
    if not re.match(r"https?://[^/\s]+", text):
        raise ValueError("it must be the address of a collector, such as http://127.0.0.1:4318/v1/traces")
    return text


def _origin_of(text: str) -> SplitResult:
    """An address with https, or on this machine."""
    parts = urlsplit(text)
    is_local = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if parts.scheme != "https" and not is_local:
        raise ValueError("it must begin with https://; http:// is for this machine only, as http://127.0.0.1:8000")
    if not parts.hostname or parts.port == 0 or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("it must be an address such as https://id.example.com, without a user, a query or a #")
    return parts


def _issuer(text: str) -> str:
    """Exactly as written: a slash at its end is part of it."""
    _origin_of(text)
    return text


def _public_url(text: str) -> str:
    parts = _origin_of(text)
    if parts.path not in ("", "/"):
        raise ValueError("it must be without a path, such as https://interlock.example.com")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _drills(text: str) -> int | None:
    if text.isdecimal() and int(text):
        return int(text)
    try:
        return USUAL if _switch(text) else None
    except ValueError:
        raise ValueError("it must be off, on, or for how many answers there is one drill") from None


def _target(text: str) -> str:
    where, _, attr = text.rpartition(":")
    if not where or not attr.isidentifier():
        raise ValueError("it must be package.module:attr or path/to/file.py:attr")
    return text


def _short_name(text: str) -> str:
    if len(text) > 40 or not text.isprintable():
        raise ValueError("it must be 40 characters at the most")
    return text


def _role_rules(text: str) -> tuple[RoleRule, ...]:
    # As a shell reads it, for names of groups with spaces in them.
    return read_role_rules(shlex.split(text))


_VARIABLES: Mapping[str, Any] = {
    "host": str,
    "port": _port,
    "data": _parse_path,
    "database": _database,
    "bus": _bus,
    "auth": _one_of("accounts", "none"),
    "agents": _split,
    "runner": _one_of("local", "ray"),
    "mcp_gateway": Path,
    "config": Path,
    "ray_address": str,
    "ray_runtime_env": Path,
    "workers": _count,
    "worker_runs": _count,
    "worker_memory": _bytes,
    "locale": _one_of("zh", "en"),
    "drills": _drills,
    "break_glass": _switch,
    "second_opinion": _target,
    "second_opinion_seconds": _opinion_seconds,
    "model": str,
    "registration": _switch,
    "passwords": _switch,
    "public_url": _public_url,
    "oidc_issuer": _issuer,
    "oidc_client_id": str,
    "oidc_client_secret": str,
    "oidc_name": _short_name,
    "oidc_groups_claim": str,
    "oidc_roles": _role_rules,
    "oidc_hosts": _whole_hosts,
    "risks": _risks,
    "approval_timeout": _seconds,
    "confirmation_timeout": _seconds,
    "confirmation_retry_limit": _count,
    "confirmation_batch_size": _count,
    "follow_grace": _seconds,
    "lease_seconds": _seconds,
    "retention_days": _days,
    "secret_key": str,
    "new_secret_key": str,
    "allowed_hosts": _split,
    "allowed_origins": _origins,
    "webhook_hosts": _hosts,
    "webhook_private": _switch,
    "channel_hosts": _whole_hosts,
    "push_hosts": _push_hosts,
    "apprise_services": _services,
    "trusted_proxies": _proxies,
    "rate_limit": _rate,
    "rate_burst": _count,
    "streams_per_caller": _count,
    "open_per_conversation": _count,
    "open_per_owner": _count,
    "open_in_all": _count,
    "slow_seconds": _seconds,
    "request_seconds": _seconds,
    "connections_per_address": _count,
    "web_dir": _folder,
    "metrics_token": str,
    "otlp_endpoint": _address,
    "log_level": _one_of("debug", "info", "warning", "error"),
    "log_format": _one_of("auto", "text", "json"),
    "failpoints": _split,
}


def upstreams(config: Config, environment: Mapping[str, str] | None = None) -> tuple[UpstreamSettings, ...]:
    """The MCP servers of the gateway's file. `secret:NAME` in it stands for a variable of the environment."""
    if config.mcp_gateway is None:
        return ()
    try:
        read = yaml.safe_load(config.mcp_gateway.read_text())
    except OSError as error:
        raise InvalidInput(f"--mcp-gateway {config.mcp_gateway}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # Not with the text around the fault, which may be a secret.
        where = getattr(error, "problem_mark", None)
        at = f", line {where.line + 1}" if where else ""
        raise InvalidInput(f"--mcp-gateway {config.mcp_gateway}: it is not YAML{at}") from None
    try:
        return read_upstreams(read, os.environ if environment is None else environment)
    except InvalidInput as error:
        raise InvalidInput(f"--mcp-gateway {config.mcp_gateway}: {error.message}", error.errors) from None


def in_environment(name: str) -> str | None:
    """What the environment alone says, whatever else was given."""
    return os.environ.get(f"INTERLOCK_{name.upper()}")


def _check(config: Config) -> None:
    if not 0 <= config.port < 65536:
        raise InvalidInput(f"port {config.port} is not between 0 and 65535")
    if config.auth == "none" and not config.is_loopback:
        raise InvalidInput(
            f"--auth none is for a loopback address only, and {config.host} is not one: anybody who can reach it could "
            "answer for anybody. Use --auth accounts, or --host 127.0.0.1"
        )
    if config.auth == "none" and config.break_glass:
        raise InvalidInput("INTERLOCK_BREAK_GLASS is for --auth accounts: with --auth none anybody is an admin")
    if config.runner == "ray" and not config.database_url.startswith("postgresql"):
        raise InvalidInput(
            "--runner ray needs a database that workers can share: --database postgresql://user@host/name"
        )
    for name in ("channel_hosts", "push_hosts", "apprise_services"):
        if getattr(config, name) and config.public_url is None:
            raise InvalidInput(f"INTERLOCK_{name.upper()} needs INTERLOCK_PUBLIC_URL: {_NEEDED['public_url']}")
    _check_sign_on(config)


def _check_sign_on(config: Config) -> None:
    if config.oidc_issuer is None:
        names = ("client_id", "client_secret", "name", "roles", "hosts")
        for name in names:
            if getattr(config, f"oidc_{name}"):
                raise InvalidInput(f"INTERLOCK_OIDC_{name.upper()} needs INTERLOCK_OIDC_ISSUER: set that too")
        if not config.passwords:
            raise InvalidInput(
                "INTERLOCK_PASSWORDS=off would leave no way to sign in: set INTERLOCK_OIDC_ISSUER for single sign-on"
            )
        return
    if config.auth == "none":
        raise InvalidInput("INTERLOCK_OIDC_ISSUER is for --auth accounts: with --auth none nobody signs in")
    for name in ("oidc_client_id", "public_url"):
        if getattr(config, name) is None:
            raise InvalidInput(f"INTERLOCK_OIDC_ISSUER needs INTERLOCK_{name.upper()}: {_NEEDED[name]}")
