"""What an operator watches: probes and logs."""

import json
from typing import Any

from tests.support.puppet import calls, fails, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

PASSWORD = "planted-password-5up3r"
SECRET = "planted-secret-v4lue"


def test_the_probes_of_a_server_that_works(server: ServerProcess) -> None:
    with server.client() as http:
        for path, word in (("/healthz", "ok"), ("/readyz", "ready")):
            reply = http.get(path)
            assert (reply.status_code, reply.json()) == (200, {"status": word})


def test_the_front_page_tells_where_to_begin(server: ServerProcess) -> None:
    with server.client() as http:
        page = http.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "script-src 'self'" in page.headers["content-security-policy"]


def entries(server: ServerProcess) -> list[dict[str, Any]]:
    """The log so far; a line that is being written is left out."""
    return [json.loads(line) for line in server.log.read_text().split("\n")[:-1]]


def logged(server: ServerProcess, request_id: str) -> dict[str, Any]:
    """What the log says of a request, which is written after its reply was sent."""
    found = wait_for(lambda: [entry for entry in entries(server) if entry.get("request_id") == request_id], bool)
    return found[0]


def test_a_request_is_found_in_the_log_by_its_id(server: ServerProcess, alice: ThreadsClient, thread: str) -> None:
    alice.http.get(f"/api/status/{thread}", headers={"x-request-id": "look-for-me"}, params={"ticket": "in-a-query"})
    entry = logged(server, "look-for-me")
    assert (entry["method"], entry["path"], entry["status"]) == ("GET", f"/api/status/{thread}", 200)
    assert entry["level"] == "info"
    assert entry["at"]
    assert "in-a-query" not in server.log.read_text()


def test_refused_requests_are_in_the_log_too(server: ServerProcess) -> None:
    with server.client() as http:
        http.get("/", headers={"host": "evil.example", "x-request-id": "refused-one"})
    assert logged(server, "refused-one")["status"] == 403


def test_the_log_holds_no_password_token_or_secret(server: ServerProcess) -> None:
    client = ThreadsClient(server.url, "logged", PASSWORD).sign_in()
    token = client.http.headers["authorization"].removeprefix("Bearer ")
    client.http.post("/api/auth/login", json={"username": "logged", "password": PASSWORD + "x"})
    client.http.post("/api/auth/login", json={"username": ["logged"], "password": PASSWORD})
    thread_id = client.new_thread()
    fields = {"fields": [{"name": "PLANTED_KEY"}]}
    client.chat(thread_id, script(calls(("request_env_vars", fields)), calls(("use_key", {"name": "PLANTED_KEY"}))))
    client.resume(thread_id, "answer", answers=[SECRET, "one too many"])
    used = client.resume(thread_id, "answer", answers=[SECRET])
    assert "used PLANTED_KEY" in used.text
    client.chat(thread_id, script(fails("the run fails after it")))
    client.http.close()
    log = server.log.read_text()
    assert "the run fails after it" in log
    for planted in (PASSWORD, SECRET, token, token.rpartition(".")[2]):
        assert planted not in log
    assert all({"at", "level", "logger", "message"} <= entry.keys() for entry in entries(server))


def test_a_secret_is_in_no_stream_status_or_history(server: ServerProcess, giver: ThreadsClient) -> None:
    thread = giver.new_thread()
    fields = {"fields": [{"name": "SILENT_KEY"}]}
    giver.chat(thread, script(calls(("request_env_vars", fields)), calls(("use_key", {"name": "SILENT_KEY"}))))
    reply = giver.resume(thread, "answer", answers=[SECRET])
    assert "used SILENT_KEY" in reply.text
    told = [str(reply.frames), str(giver.history(thread)), str(giver.status(thread))]
    assert all(SECRET not in text for text in told)
    for file in server.data.iterdir():
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file.name
