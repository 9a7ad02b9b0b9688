"""What the operator sets: flags, then the environment, then defaults. The only file that reads the environment."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from interlock.domain.errors import InvalidInput
from interlock.domain.risk import RISK_LEVELS

Auth = Literal["accounts", "none"]
Locale = Literal["zh", "en"]

DEMO = "demo"
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
    ray_address: str | None = None
    ray_runtime_env: Path | None = None
    workers: int = 2
    worker_runs: int = 32
    worker_memory: int | None = None
    locale: Locale = "zh"
    model: str | None = None
    registration: bool = True
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
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def load(given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration; `given` holds the flags that were set, by field name."""
    environment = os.environ if environment is None else environment
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
    _check(config)
    return config


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


def _read(named: str, read: Any, text: str) -> Any:
    try:
        return read(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{named}{text!r}: {error}") from error


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.replace(",", " ").split() if part)


def _hosts(text: str) -> tuple[str, ...]:
    hosts = _listed(text.lower())
    for host in hosts:
        if not _HOST.match(host) and not _is_address(host):
            raise ValueError(f"{host} is no host name: hooks.example.com, or *.example.com for all under a name")
    return hosts


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _risks(text: str) -> tuple[tuple[str, str], ...]:
    pairs = tuple((tool, risk) for tool, _, risk in (part.partition("=") for part in _listed(text)))
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


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a number of seconds above 0")
    return value


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a number of requests a second, above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 < value < 10**9:
        raise ValueError("it must be a whole number above 0")
    return value


def _days(text: str) -> int:
    value = int(text)
    if not 0 < value <= 36_500:
        raise ValueError("it must be a whole number of days, from 1 to 36500")
    return value


def _bytes(text: str) -> int:
    value = int(text)
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


_VARIABLES: Mapping[str, Any] = {
    "host": str,
    "port": _port,
    "data": Path,
    "database": _database,
    "bus": _bus,
    "auth": _one_of("accounts", "none"),
    "agents": _listed,
    "runner": _one_of("local", "ray"),
    "ray_address": str,
    "ray_runtime_env": Path,
    "workers": _count,
    "worker_runs": _count,
    "worker_memory": _bytes,
    "locale": _one_of("zh", "en"),
    "model": str,
    "registration": _switch,
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
    "allowed_hosts": _listed,
    "allowed_origins": _listed,
    "webhook_hosts": _hosts,
    "webhook_private": _switch,
    "trusted_proxies": _listed,
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
    "failpoints": _listed,
}


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
    if config.runner == "ray" and not config.database_url.startswith("postgresql"):
        raise InvalidInput(
            "--runner ray needs a database that workers can share: --database postgresql://user@host/name"
        )
