"""How long a call is held for each host, and what hosts that are no client of a test say of themselves."""

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.errors import InvalidInput
from interlock.faces.mcp.hosts import UNKNOWN_SECONDS, hold_seconds
from tests.hooks.codex import PACKAGES, binary
from tests.hooks.responses_model import ResponsesModel, use
from tests.support.mcp import SECONDS, Host
from tests.support.node import node
from tests.support.waiting import wait_for


@pytest.mark.parametrize(
    ("client", "asked_for", "wanted", "seconds"),
    [
        ("claude-code/2.1.325 (sdk-cli)", None, None, math.inf),
        ("codex-mcp-client/0.166.0", None, None, 280),
        ("gemini-cli-mcp-client", None, None, 590),
        ("Codex", None, None, 280),
        ("node", None, None, UNKNOWN_SECONDS),
        ("", None, None, UNKNOWN_SECONDS),
        # The address of the endpoint overrides what is known of the host.
        ("node", "590", None, 590),
        ("claude-code", "30", None, 30),
        ("codex", "0", None, 0),
        # A call shortens it, and prolongs it where nothing is known.
        ("codex", None, 10, 10),
        ("codex", None, 3600, 280),
        ("codex", "3000", 3600, 3000),
        ("node", None, 3600, 3600),
        ("claude-code", None, 3600, 3600),
    ],
)
def test_a_call_is_held_by_what_its_host_bears(
    client: str, asked_for: str | None, wanted: float | None, seconds: float
) -> None:
    assert hold_seconds(client, asked_for, wanted) == seconds


@pytest.mark.parametrize("asked_for", ["", "long", "nan", "inf", "-1", "1e400"])
def test_a_hold_that_is_no_number_of_seconds_is_refused(asked_for: str) -> None:
    with pytest.raises(InvalidInput, match="hold must be a number of seconds"):
        hold_seconds("codex", asked_for, None)


def test_codex_asks_and_its_model_is_told_the_answer(host: Host, tmp_path: Path) -> None:
    """By its older handshake; it shows its model the structured content only."""
    home = tmp_path / ".codex"
    home.mkdir()
    (tmp_path / "project").mkdir()
    ask = {**use("ask_person", question="Which colour?"), "namespace": "mcp__interlock"}
    wait = {**use("ask_person", "call_2", question="When?", wait_seconds=0), "namespace": "mcp__interlock"}
    with ResponsesModel([ask], [wait]) as model:
        (home / "config.toml").write_text(
            'model = "gpt-5"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model.url}"\nwire_api = "responses"\n'
            f'[mcp_servers.interlock]\nurl = "{host.server.url}/mcp"\nbearer_token_env_var = "INTERLOCK_KEY"\n'
            # Else it may begin before it knows the tools.
            "required = true\nstartup_timeout_sec = 60\n"
        )
        given = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(home), "INTERLOCK_KEY": host.key}
        command = [str(binary()), "exec", "--skip-git-repo-check", "-s", "danger-full-access", "go"]
        pipe, folder = subprocess.PIPE, tmp_path / "project"
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=given, cwd=folder
        ) as process:
            try:
                [request] = wait_for(host.pending, lambda found: len(found) == 1, SECONDS)
                host.person.respond(request["request_id"], {"answer": "Blue"})
                _, stderr = process.communicate(timeout=SECONDS)
            finally:
                process.kill()
        assert process.returncode == 0, stderr
    assert "alice answered: Blue" in model.results["call_1"]
    assert "Do not go on as if it were a yes" in model.results["call_2"]


# It takes a minute, of which no database knows.
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_typescript_client_is_answered_before_it_gives_up(host: Host) -> None:
    """After a minute, whatever progress it hears: an unknown host is told pending before."""
    assert (PACKAGES / "@modelcontextprotocol" / "client").exists(), (
        "the npm package @modelcontextprotocol/client is missing: `make test` installs it"
    )
    script = str(PACKAGES.parent / "mcp_host.mjs")
    asked: dict[str, Any] = {"name": "ask_person", "arguments": {"question": "Which colour?"}}
    given = {"PATH": os.environ["PATH"], "KEY": host.key, "URL": f"{host.server.url}/mcp", "CALL": json.dumps(asked)}
    ended = subprocess.run([node(), script], env=given, capture_output=True, text=True, timeout=3 * SECONDS)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["limit"] == 60_000
    assert told["result"]["structuredContent"]["status"] == "pending"
    assert [one["request_id"] for one in host.pending()] == [told["result"]["structuredContent"]["request_id"]]
