"""A version that is activated counts whole or not at all, however the server ends; of several admins one wins."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import httpx
import pytest

from tests.support import puppet
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P22")

POLICY = "/api/v1/policy"
RULES = '[[rule]]\nname = "all"\ntools = ["guarded"]\nthen = "{}"\n'


@pytest.fixture
def server(tmp_path: Path, database_url: str | None, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(
        tmp_path / "data", agents=[puppet.SPEC], database=database_url, environment=witness.environment
    )
    try:
        yield process
    finally:
        process.close()


def saved(admin: ThreadsClient, ruling: str) -> int:
    body = {"text": RULES.format(ruling)}
    return admin.http.post(f"{POLICY}/versions", json=body).raise_for_status().json()["version"]


def activate(admin: ThreadsClient, number: int, expected: int | None) -> int:
    return admin.http.post(f"{POLICY}/versions/{number}/activate", json={"expected": expected}).status_code


def is_asked(admin: ThreadsClient, name: str) -> bool:
    thread = admin.new_thread()
    return "interrupt" in admin.chat(thread, script(calls(("guarded", {"name": name})), says("done"))).events


@pytest.fixture
def admin_at() -> Generator[Callable[[str], ThreadsClient]]:
    """The admin, at the server's address in each of its lives."""
    known: list[ThreadsClient] = []

    def admin(url: str) -> ThreadsClient:
        known.append(known[0].at(url) if known else ThreadsClient(url).sign_in())
        return known[-1]

    yield admin
    for client in known:
        client.http.close()


def test_a_server_that_dies_while_it_activates_has_the_version_of_before(
    server: ServerProcess, witness: Witness, admin_at: Callable[[str], ThreadsClient]
) -> None:
    admin = admin_at(server.start(failpoints="policy.activating=kill@2").url)
    denying, allowing = saved(admin, "deny"), saved(admin, "allow")
    assert activate(admin, denying, None) == 200
    with pytest.raises(httpx.TransportError):
        activate(admin, allowing, denying)
    server.wait_until_dead()

    admin = admin_at(server.start(failpoints="").url)
    assert admin.http.get(POLICY).json()["active"] == denying
    assert not is_asked(admin, "after the kill")
    assert witness.count("after the kill") == 0
    # Nothing of what was cut short stands in the way, and its trail has what counts and nothing else.
    assert activate(admin, allowing, denying) == 200
    trail = admin.http.get("/api/v1/audit", params={"conversation_id": "server", "action": "policy.activated"}).json()
    assert [one["data"]["version"] for one in trail["entries"]] == [allowing, denying]

    # A yes that reached its admin holds, however soon the server ends.
    server.kill()
    admin = admin_at(server.start(failpoints="").url)
    assert not is_asked(admin, "once it counts")
    assert witness.count("once it counts") == 1


def test_of_two_admins_who_saw_the_same_one_activates(
    server: ServerProcess, admin_at: Callable[[str], ThreadsClient]
) -> None:
    admin = admin_at(server.start().url)
    versions = [saved(admin, ruling) for ruling in ("deny", "allow", "ask")]
    active: int | None = None
    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            others = [number for number in versions if number != active][:2]
            codes = list(pool.map(activate, repeat(admin), others, repeat(active)))
            assert sorted(codes) == [200, 409]
            active = admin.http.get(POLICY).json()["active"]
            assert active == others[codes.index(200)]
