"""`interlock doctor`: what keeps a person from being asked, and what to do."""

import json
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.hooks.hook import PROGRAM, SECONDS, Desk
from tests.hooks.mortal import MortalServer
from tests.hooks.opencode import INTERLOCK


def doctor(desk: Desk, *arguments: str, code: int = 0, **variables: str) -> str:
    # No coding agent but those whose settings a test has written.
    environment = {**desk.environment, "PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run(
        [INTERLOCK, "doctor", *arguments],
        env=environment,
        cwd=desk.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (code, ""), done
    return done.stdout


def install(desk: Desk, agent: str, *options: str) -> None:
    command = [PROGRAM, "install", agent, "--yes", *options]
    subprocess.run(command, env=desk.environment, check=True, capture_output=True, timeout=SECONDS)


def test_all_in_order_is_said_in_a_few_lines(desk: Desk) -> None:
    told = doctor(desk)
    assert f"ok    server: {desk.url} answers" in told
    assert "ok    version: " in told
    assert "ok    clock: " in told
    assert "ok    agents' key: of the agent " in told
    assert told.endswith("everything is in order\n")


def test_a_server_that_is_not_there_or_is_not_ours_is_told(desk: Desk, mortal: MortalServer) -> None:
    told = doctor(desk, code=1, INTERLOCK_URL="http://127.0.0.1:9")
    assert "fail  server: http://127.0.0.1:9 cannot be reached" in told
    assert "interlock serve" in told
    mortal.kill()
    assert "cannot be reached" in doctor(mortal.desk, code=1)
    assert "INTERLOCK_URL" in doctor(desk, code=1, INTERLOCK_URL="ftp://nowhere")
    with changed(desk.url, lambda _path, _said: {"hello": "world"}) as url:
        assert "is no server of Interlock" in doctor(desk, code=1, INTERLOCK_URL=url)


def test_a_key_that_is_missing_wrong_or_a_persons_own_is_told(desk: Desk) -> None:
    assert "fail  agents' key: there is none" in doctor(desk, code=1, INTERLOCK_KEY="")
    assert "fail  agents' key: " in doctor(desk, code=1, INTERLOCK_KEY="ms_sk_" + "0" * 64)
    own = desk.person.new_key("alice's own", "person")["key"]
    told = doctor(desk, INTERLOCK_KEY=own)
    assert "warn  agents' key: alice's own, with which an agent can answer in their name" in told
    assert "--role agent" in told
    assert own not in told


def test_a_server_without_accounts_asks_for_no_key(mortal: MortalServer) -> None:
    assert "asks for none" in doctor(mortal.desk)


def test_a_clock_that_is_off_and_another_version_are_told(desk: Desk) -> None:
    def an_hour_ago(path: str, said: dict[str, Any]) -> dict[str, Any]:
        if path == "/openapi.json":
            return {**said, "info": {"version": "99.0.0"}}
        return {**said, "server_time": "2001-01-01T00:00:00Z"} if "server_time" in said else said

    with changed(desk.url, an_hour_ago) as url:
        told = doctor(desk, INTERLOCK_URL=url)
    assert "ahead of the server's" in told
    assert "warn  version: 99.0.0 there" in told


def test_hooks_are_looked_at_for_each_agent_that_is_here(desk: Desk) -> None:
    install(desk, "claude-code")
    (desk.home / ".gemini").mkdir()
    told = doctor(desk)
    assert "ok    Claude Code: its hook is in " in told
    assert "warn  Gemini CLI: its hook is not installed: `interlock-hook install gemini`" in told
    assert "Cursor" not in told
    file = desk.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    settings["disableAllHooks"] = True
    settings["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"] = 5
    settings["hooks"]["Stop"][0]["hooks"][0]["command"] = "/gone/interlock-hook"
    file.write_text(json.dumps(settings))
    told = doctor(desk, code=1)
    assert "fail  Claude Code: disableAllHooks is set" in told
    assert "it is given 5 s, and waits for 3600" in told
    assert "/gone/interlock-hook cannot be started" in told
    file.write_text("{")
    assert "is not JSON" in doctor(desk, code=1)


def test_codex_settings_in_which_nothing_is_asked_are_told(desk: Desk) -> None:
    (desk.home / ".codex").mkdir()
    (desk.home / ".codex" / "config.toml").write_text('approval_policy = "never"\n[features]\nhooks = false\n')
    install(desk, "codex")
    told = doctor(desk, code=1)
    assert "fail  Codex: features.hooks is off" in told
    assert 'approval_policy is "never"' in told


def test_keys_of_mcp_entries_are_looked_at_and_nobody_else_is_called(desk: Desk) -> None:
    own = desk.person.new_key("alice's own for mcp", "person")["key"]
    entries = {
        "interlock": {"httpUrl": f"{desk.url}/mcp?hold=590", "headers": {"Authorization": f"Bearer {own}"}},
        "started": {"command": "interlock", "args": ["mcp"], "env": {"INTERLOCK_KEY": desk.key}},
        "github": {"httpUrl": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer other"}},
    }
    (desk.home / ".gemini").mkdir()
    (desk.home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": entries}))
    (desk.home / ".codex").mkdir()
    (desk.home / ".codex" / "config.toml").write_text(
        f'[mcp_servers.interlock]\nurl = "{desk.url}/mcp"\nbearer_token_env_var = "ALICES"\n'
    )
    told = doctor(desk, ALICES=own)
    lines = [line for line in told.splitlines() if "MCP entry" in line]
    assert [line.split()[0] for line in lines] == ["warn", "ok", "warn"]
    assert "github" not in told
    assert own not in told


@contextmanager
def changed(url: str, change: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Generator[str]:
    """The server, but for what is changed in what it says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name.lower() == "authorization"}
            said = httpx.get(url + self.path, headers=headers, timeout=60)
            body = json.dumps(change(self.path, said.json())).encode()
            self.send_response(said.status_code)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_no_key_goes_where_a_folders_settings_lead(desk: Desk, tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(path: str, said: dict[str, Any]) -> dict[str, Any]:
        heard.append(path)
        return said

    with changed(desk.url, hear) as url:
        headers = {"Authorization": "Bearer $SECRET"}
        entries = {
            "interlock": {"url": f"{url}/mcp", "headers": headers},
            "other": {"command": "interlock", "args": ["mcp"], "env": {"INTERLOCK_URL": url}},
        }
        (desk.home / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
        told = doctor(desk, "--project", SECRET="planted")
    assert heard == []
    assert told.count(f"it leads to {url}, which is not your server") == 2
    entries = {"interlock": {"url": f"{desk.url}/mcp", "headers": {"Authorization": f"Bearer {desk.key}"}}}
    (desk.home / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    assert "ok    MCP entry interlock in " in doctor(desk, "--project")


def test_a_folders_settings_are_looked_at_by_themselves(desk: Desk, tmp_path: Path) -> None:
    (desk.home / ".cursor").mkdir()
    told = doctor(desk, "--project")
    assert "warn  Cursor: its hook is not installed: `interlock-hook install cursor --project`" in told
    assert str(tmp_path) not in told
