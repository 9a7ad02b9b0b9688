"""Sign-ins, accounts, roles and keys in the audit trail."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.services.memory import SIGN_INS_APART, FailedSignIns, SignInAttempt
from tests.support.command import command, users
from tests.support.either_database import DATABASES, server_on
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

PASSWORD = "planted-password-of-ann"
WRONG = "a-guess-that-is-wrong"
AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ServerProcess]:
    with server_on(request.param, request, tmp_path, {}) as process:
        yield process


@pytest.fixture
def root(server: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(server.url, "root").sign_in()
    yield client
    client.http.close()


def trail(client: ThreadsClient) -> list[dict[str, Any]]:
    """The server's own chain, the oldest first."""
    query = {"conversation_id": "server", "limit": 200}
    return client.http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"][::-1]


def told(entries: list[dict[str, Any]], about: str) -> list[tuple[str, str]]:
    """What happened about an account, and who did it."""
    return [(one["action"], one["actor"]) for one in entries if about in (one["data"].get("username"), one["actor"])]


def attempt(server: ServerProcess, username: str, password: str) -> int:
    with server.client() as http:
        return http.post("/api/auth/login", json={"username": username, "password": password}).status_code


def test_accounts_sign_ins_roles_and_keys_are_recorded_and_no_password_is(
    server: ServerProcess, root: ThreadsClient
) -> None:
    users(server, "create", "ann", "--password", PASSWORD, "--role", "owner")
    assert attempt(server, "ann", WRONG) == 401
    with server.client() as http:
        http.headers["origin"] = server.url
        http.post("/api/v1/session", json={"username": "ann", "password": PASSWORD}).raise_for_status()
        key_id = http.post("/api/v1/keys", json={"name": "bot", "role": "agent"}).raise_for_status().json()["id"]
        http.delete(f"/api/v1/keys/{key_id}").raise_for_status()
        for _ in range(2):
            http.delete("/api/v1/session").raise_for_status()
    users(server, "role", "ann", "reviewer", "--agent", "demo")
    users(server, "reset", "ann", "--password", PASSWORD + "!")
    entries = trail(root)
    assert told(entries, "root") == [("user.created", "root"), ("session.opened", "root")]
    assert told(entries, "ann") == [
        ("user.created", "system"),
        ("session.opened", "ann"),
        ("key.created", "ann"),
        ("key.revoked", "ann"),
        ("session.ended", "ann"),
        ("user.role_changed", "system"),
        ("user.password_reset", "system"),
    ]
    (refused,) = [one["data"] for one in entries if one["action"] == "session.refused"]
    assert refused == {"how": "password", "account": "ann", "address": "127.0.0.1", "count": 1}
    (changed,) = [one["data"] for one in entries if one["action"] == "user.role_changed"]
    assert (changed["before"]["role"], changed["role"], changed["reviews"]) == ("owner", "reviewer", ["demo"])
    exported = command("audit", "export", *server.where).stdout
    assert "user.password_reset" in exported
    assert PASSWORD not in exported
    assert WRONG not in exported
    verified = command("audit", "verify", *server.where)
    assert verified.returncode == 0, verified.stdout


def test_many_failed_sign_ins_are_two_entries_and_a_name_that_is_none_is_not_kept(
    server: ServerProcess, root: ThreadsClient
) -> None:
    for number in range(20):
        assert attempt(server, f"my-secret-{number}", WRONG) == 401
    server.stop()
    root = root.at(server.start().url)
    refused = [one["data"] for one in trail(root) if one["action"] == "session.refused"]
    assert [(one["account"], one["count"]) for one in refused] == [(None, 1), (None, 19)]
    assert "my-secret" not in str(trail(root))
    root.http.close()


def test_a_flood_from_everywhere_writes_a_bounded_number_of_entries_and_loses_no_count() -> None:
    refusals = FailedSignIns()
    attempts = [SignInAttempt("password", None, f"10.0.{number // 250}.{number % 250}") for number in range(5_000)]
    at_once = [first for one in attempts * 2 if (first := refusals.add(one, AT)) is not None]
    assert len(at_once) == SIGN_INS_APART + 1
    assert at_once[-1] == SignInAttempt("password", None, None)
    counted = refusals.take()
    assert len(counted) <= SIGN_INS_APART + 1
    assert len(at_once) + sum(count.more for _, count in counted) == 10_000
    assert refusals.take() == []
    assert refusals.add(attempts[0], AT + timedelta(hours=1)) == attempts[0]
