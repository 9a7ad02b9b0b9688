"""Who may be called what, what the cookie is called, and what is counted for whom."""

from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import create_engine, text

from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import QUESTION, HitlClient, of
from tests.support.http import client as http_client
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

SESSION = "/api/v1/session"
OLD, SECURE = "interlock_session", "__Host-interlock_session"
BURST = 30


@pytest.fixture(params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ServerProcess]:
    environment = {
        "INTERLOCK_TRUSTED_PROXIES": "127.0.0.1",
        "INTERLOCK_RATE_BURST": str(BURST),
        "INTERLOCK_RATE_LIMIT": "0.001",
    }
    with server_on(request.param, request, tmp_path, environment) as process:
        yield process


def registered(server: ServerProcess, name: str) -> httpx.Response:
    with server.client() as http:
        return http.post("/api/auth/register", json={"username": name, "password": "wonderland"})


def test_nobody_registers_beside_a_name_that_looks_the_same(server: ServerProcess) -> None:
    # The first one is the admin's, who may be called that.
    assert registered(server, "admin").status_code == 200
    for name in ("ann", "王小明", "cope"):
        assert registered(server, name).status_code == 200
    for name in (
        "Admin",
        "ａdmin",
        "аdmin",
        "ADMIN",
        "adm1n",
        "administrator",
        "operator",
        "Ann",
        "ａnn",
        "соре",
        "system",
        "Interlock",
        "ADMlN",
        "adrnin",
        "root0",
        "C0PE",
        "ᴀᴅᴍɪɴ",
        "ᴀnn",
        "admin\u3164",
        "ann\uffa0",
        "\u3164",
    ):
        reply = registered(server, name)
        assert reply.status_code == 400, name
        assert {error["field"] for error in reply.json()["errors"]} == {"username"}
    assert registered(server, "王小名").status_code == 200


def test_an_account_whose_name_would_be_refused_now_goes_on(server: ServerProcess) -> None:
    for name in ("admin", "ann"):
        assert registered(server, name).status_code == 200
    url = server.database or f"sqlite:///{server.data}/interlock.db"
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE users SET username = 'adm1n' WHERE username = 'ann'"))
    engine.dispose()
    with server.client() as http:
        reply = http.post("/api/auth/login", json={"username": "adm1n", "password": "wonderland"})
    assert reply.status_code == 200


def test_an_agents_name_is_not_like_that_of_a_hosted_one_or_of_the_server(server: ServerProcess) -> None:
    alice = ThreadsClient(server.url).sign_in()
    with of(alice) as person:
        for name in ("Puppet", "рuppet", "ｄemo", "system", "interlock"):
            made = person.http.post("/api/v1/keys", json={"name": "a key", "role": "agent", "agent": name})
            assert made.status_code == 400, name
            assert person.try_ask("clarification", QUESTION, agent=name).status_code == 400
        assert person.new_key("a key", "agent", agent="助手")["agent"] == "助手"
    alice.http.close()


def test_over_tls_the_cookie_is_bound_to_the_host_and_the_old_one_is_still_read(server: ServerProcess) -> None:
    assert registered(server, "ann").status_code == 200
    ann = {"username": "ann", "password": "wonderland"}
    with server.client() as http:
        plain = http.post(SESSION, json=ann)
        assert list(plain.cookies.keys()) == [OLD]
        secured = http.post(SESSION, json=ann, headers={"x-forwarded-proto": "https"})
        spelled = secured.headers["set-cookie"]
        assert spelled.startswith(f"{SECURE}=")
        assert {"Secure", "Path=/", "HttpOnly"} <= {part.strip() for part in spelled.split(";")}
        assert "domain" not in spelled.lower()
    token = spelled.partition("=")[2].partition(";")[0]
    for name in (SECURE, OLD):
        with http_client(server.url, headers={"cookie": f"{name}={token}"}) as http:
            assert http.get(SESSION).json()["username"] == "ann"
    with http_client(server.url, headers={"cookie": f"{SECURE}={token}", "origin": server.url}) as http:
        gone = http.delete(SESSION).headers.get_list("set-cookie")
        assert sorted(one.partition("=")[0] for one in gone) == [SECURE, OLD]
        assert http.get(SESSION).status_code == 401


def test_requests_are_counted_for_the_owner_and_not_for_each_key(server: ServerProcess) -> None:
    alice, bob = (ThreadsClient(server.url, name).sign_in() for name in ("alice", "bob"))
    with of(alice) as person:
        keys = [
            person.new_key(f"key-{number}", role)["key"] for number, role in enumerate(("person", "agent", "agent"))
        ]
    statuses: list[int] = []
    for key in keys:
        with HitlClient(server.url, key) as client:
            statuses += [client.http.get("/api/v1/agent/hitl/pending").status_code for _ in range(BURST)]
    assert statuses.count(200) == BURST - len(keys)
    assert alice.http.get(SESSION).status_code == 429
    assert bob.http.get(SESSION).status_code == 200
    for client in (alice, bob):
        client.http.close()


@pytest.mark.parametrize(("trusted", "warnings"), [("10.9.8.7", 1), ("127.0.0.1", 0)])
def test_a_proxy_that_is_not_trusted_is_told_of_once(tmp_path: Path, trusted: str, warnings: int) -> None:
    with ServerProcess(tmp_path, environment={"INTERLOCK_TRUSTED_PROXIES": trusted}) as server:
        for _ in range(3):
            with server.client() as http:
                assert http.get("/healthz", headers={"x-forwarded-for": "203.0.113.9"}).status_code == 200
        told = [line for line in server.log.read_text().splitlines() if "X-Forwarded-For" in line]
    assert len(told) == warnings
    assert all("127.0.0.1" in line and "INTERLOCK_TRUSTED_PROXIES" in line for line in told)


def test_the_file_of_the_database_is_its_owners_alone(tmp_path: Path) -> None:
    def modes() -> set[int]:
        return {one.stat().st_mode & 0o777 for one in (tmp_path / "data").glob("interlock.db*")}

    with ServerProcess(tmp_path / "data") as server:
        assert registered(server, "ann").status_code == 200
        assert len(list((tmp_path / "data").glob("interlock.db-*"))) == 2
        assert modes() == {0o600}
    # As an earlier version left it.
    (tmp_path / "data" / "interlock.db").chmod(0o644)
    with ServerProcess(tmp_path / "data") as server:
        assert registered(server, "bo").status_code == 200
        assert modes() == {0o600}
