"""What Ray is told of a server, and what a worker makes of it."""

import base64
import pickle
from pathlib import Path

import pytest

from interlock.config import load
from interlock.runners.ray import RaySettings
from interlock.worker_settings import fingerprint, settings_for_ray, with_own_passwords, without_password

DATABASE = "postgresql://interlock:planted-pg@db.internal:5432/interlock?sslmode=require"
TRACES = "https://user:planted-otlp@collector.internal:4318/v1/traces"
BUS = "rediss://:planted-redis@redis.internal:6379/0"


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        (DATABASE, "postgresql://interlock@db.internal:5432/interlock?sslmode=require"),
        (BUS, "rediss://redis.internal:6379/0"),
        ("redis://worker:p%40ss@[::1]:6379/1", "redis://worker@[::1]:6379/1"),
        ("postgresql://u:plan/ted#?@db/interlock?sslpassword=planted", "postgresql://u@db/interlock"),
        ("redis://host/0?password=planted&db=2", "redis://host/0?db=2"),
        ("rediss://host/0?ssl_password=planted&db=2", "rediss://host/0?db=2"),
        ("https://user:planted@collector.internal:4318/v1/traces", "https://collector.internal:4318/v1/traces"),
        ("https://planted@[::1]/v1/traces?api-key=planted", "https://[::1]/v1/traces"),
        ("postgresql:///interlock?host=/run/pg", "postgresql:///interlock?host=%2Frun%2Fpg"),
        ("postgresql://interlock@db.internal/interlock", "postgresql://interlock@db.internal/interlock"),
    ],
)
def test_a_url_is_told_without_its_password(url: str, bare: str) -> None:
    assert without_password(url) == bare


def test_no_password_goes_to_ray_and_a_worker_takes_it_from_its_own_node(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = load({"runner": "ray", "database": DATABASE, "bus": BUS, "otlp_endpoint": TRACES, "data": tmp_path})
    given = settings_for_ray(config)
    handed = pickle.dumps((RaySettings(None, 1, None), given))
    assert b"planted" not in handed + base64.b64encode(handed)
    assert not any(isinstance(value, str) and "planted" in value for value in given.values())
    assert with_own_passwords(given) == given
    monkeypatch.setenv("INTERLOCK_DATABASE", DATABASE)
    monkeypatch.setenv("INTERLOCK_BUS", BUS)
    monkeypatch.setenv("INTERLOCK_OTLP_ENDPOINT", TRACES)
    own = load(with_own_passwords(given))
    assert (own.database, own.bus, own.otlp_endpoint) == (DATABASE, BUS, TRACES)
    # Another Redis on that node is not the one that the server means.
    monkeypatch.setenv("INTERLOCK_BUS", "redis://:other@127.0.0.1:6379/9")
    assert load(with_own_passwords(given)).bus == given["bus"]


def test_workers_are_others_when_their_settings_passwords_or_code_are(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text("agent = 1")
    given = {"runner": "ray", "database": DATABASE, "bus": BUS, "agents": (f"a={agent}:agent",), "data": tmp_path}

    def print_of(**changes: object) -> bytes:
        return fingerprint(load({**given, **changes}, {}), {}, b"key")

    first = print_of()
    assert print_of(data=tmp_path / "elsewhere") == first
    assert fingerprint(load(given, {}), {}, b"another key") != first
    others = [
        print_of(database=DATABASE.replace("planted-pg", "another")),
        print_of(worker_runs=3),
        print_of(workers=3),
        print_of(otlp_endpoint=TRACES),
        fingerprint(load(given, {}), {"pip": ["x"]}, b"key"),
    ]
    agent.write_text("agent = 2")
    others.append(print_of())
    assert len({first, *others}) == 7
