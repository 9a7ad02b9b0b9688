"""`interlock-hook install`, `uninstall` and `status`: ours in an agent's settings, and others' left alone."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.hook import PROGRAM, SECONDS, Desk
from tests.servers.terminal import Terminal
from tests.support.server import ServerProcess

OTHERS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "PermissionRequest": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "notify-send hello"}]}],
        "PreCompact": [],
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
    },
    "permissions": {"defaultMode": "default"},
}


def run(desk: Desk, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in desk.environment.items() if not name.startswith("INTERLOCK_")}
    return subprocess.run(
        [PROGRAM, *arguments],
        env=environment,
        cwd=folder or desk.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


@pytest.fixture
def file(desk: Desk) -> Path:
    folder = desk.home / ".claude"
    folder.mkdir()
    return folder / "settings.json"


def test_others_entries_stay_and_come_back_as_they_were(desk: Desk, file: Path) -> None:
    before = json.dumps(OTHERS, indent=4) + "\n"
    file.write_text(before)
    file.chmod(0o640)
    done = run(desk, "install", "claude-code", "--yes")
    assert done.returncode == 0, done.stderr
    written = json.loads(file.read_text())
    assert written["hooks"]["PermissionRequest"][0] == OTHERS["hooks"]["PermissionRequest"][0]
    [ours] = written["hooks"]["PermissionRequest"][1]["hooks"]
    assert ours["args"] == ["claude-code", "--timeout", "3600"]
    assert ours["command"] == PROGRAM
    assert ours["timeout"] == 3600
    assert written["hooks"]["Stop"][0] == OTHERS["hooks"]["Stop"][0]
    assert written["hooks"].keys() == {
        *OTHERS["hooks"],
        *("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd"),
    }
    assert "\n    " in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "+" in done.stdout
    assert "-    " not in done.stdout
    assert run(desk, "uninstall", "claude-code", "--yes").returncode == 0
    assert file.read_text() == before


def test_installing_again_replaces_and_the_same_again_changes_nothing(desk: Desk, file: Path) -> None:
    for _ in "ab":
        assert run(desk, "install", "claude-code", "--yes", "--timeout", "100").returncode == 0
    first = file.read_text()
    assert "stays as it is" in run(desk, "install", "claude-code", "--timeout", "100").stdout
    assert run(desk, "install", "claude-code", "--yes", "--mode", "every-call", "--tools", "Bash").returncode == 0
    hooks = json.loads(file.read_text())["hooks"]
    assert "PermissionRequest" not in hooks
    [gate] = hooks["PreToolUse"]
    assert (gate["matcher"], gate["hooks"][0]["onFailure"]) == ("Bash", "block")
    assert run(desk, "install", "claude-code", "--yes", "--timeout", "100").returncode == 0
    assert json.loads(file.read_text()) == json.loads(first)
    assert run(desk, "uninstall", "claude-code", "--yes").returncode == 0
    assert json.loads(file.read_text()) == {}


def test_what_would_be_written_is_shown_and_written_only_when_that_is_agreed_to(desk: Desk, file: Path) -> None:
    file.write_text("{}\n")
    done = run(desk, "install", "claude-code")
    assert (done.returncode, file.read_text()) == (2, "{}\n")
    assert '+    "PermissionRequest"' in done.stdout
    assert "--yes" in done.stderr
    environment = {"HOME": str(desk.home), "PATH": desk.environment["PATH"]}
    with Terminal([PROGRAM, "install", "claude-code"], desk.home, environment, size=(100, 200)) as screen:
        screen.waits_at("Write this? [y/N]")
        screen.type("y")
        screen.press("Enter")
        assert screen.exit_code() == 0
    assert "PermissionRequest" in file.read_text()


COMMENTED = """{
  // mine
  "model": "opus", /* for now */
  "url": "http://localhost//a", // the last one
}
"""


def test_comments_and_whatever_others_wrote_stay_to_the_last_character(desk: Desk, file: Path) -> None:
    file.write_text(COMMENTED)
    assert run(desk, "install", "claude-code", "--yes").returncode == 0
    before, after = COMMENTED.splitlines(), file.read_text().splitlines()
    assert set(before) - set(after) == set()
    assert '"PermissionRequest"' in file.read_text()
    assert run(desk, "uninstall", "claude-code", "--yes").returncode == 0
    assert file.read_text() == COMMENTED.replace('a",', 'a"')


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "cursor"])
def test_every_agents_settings_get_the_hook_and_lose_it_again(desk: Desk, agent: str) -> None:
    assert run(desk, "install", agent, "--yes", "--mode", "every-call", "--timeout", "100").returncode == 0
    [written] = [*desk.home.glob(".c*/*.json"), *desk.home.glob(".gemini/*.json")]
    text = written.read_text()
    assert "interlock-hook" in text
    assert '"timeout": 100' in text
    assert agent != "cursor" or ('"version": 1' in text and '"failClosed": true' in text)
    assert agent == "claude-code" or "|| exit 2" in text
    assert run(desk, "uninstall", agent, "--yes").returncode == 0
    assert "interlock" not in written.read_text()


@pytest.mark.parametrize(
    "text",
    [
        *('{"hooks": ', "[]", "\ud800", '{"hooks": {"Stop": [ /* none */ ]}}', '{"hooks": {}} {}', "// nothing"),
        *('{"hooks": []}', '{"hooks": "none"}', '{"hooks": {"PermissionRequest": {"matcher": "Bash"}}}'),
        *('{"timeout": 1/2}', '{"hooks": {"Stop": [1]}, "hooks": {"Stop": []}}', "\ufeff\ufeff{}"),
    ],
)
def test_a_file_that_is_not_understood_is_not_touched(desk: Desk, file: Path, text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    file.write_bytes(content)
    done = run(desk, "install", "claude-code", "--yes")
    assert (done.returncode, file.read_bytes()) == (2, content)
    assert str(file) in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        *('{\r\n  "model": "opus"\r\n}\r\n', '{"hooks": {"Stop": ["x", null, {"hooks": "y"}]}}'),
        '\ufeff{\r\n  "model": "opus"\r\n}\r\n',
    ],
)
def test_what_others_wrote_comes_back_as_it_was(desk: Desk, file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    assert run(desk, "install", "claude-code", "--yes").returncode == 0
    written = file.read_bytes()
    assert written.count(b"\r\n") in (0, written.count(b"\n"))
    assert written.decode().count("\ufeff") == text.count("\ufeff")
    assert run(desk, "uninstall", "claude-code", "--yes").returncode == 0
    assert json.loads(file.read_bytes()) == json.loads(text.encode())
    assert "hooks" in text or file.read_bytes() == text.encode()


def test_a_link_is_followed_and_stays_a_link(desk: Desk, file: Path) -> None:
    kept = desk.home / "dotfiles.json"
    kept.write_text("{}")
    file.symlink_to(kept)
    assert run(desk, "install", "claude-code", "--yes").returncode == 0
    assert file.is_symlink()
    assert "PermissionRequest" in kept.read_text()


def test_a_name_twice_among_the_hooks_is_not_lost(desk: Desk, file: Path) -> None:
    text = '{"hooks": {"Stop": [{"hooks": []}], "Stop": []}}'
    file.write_text(text)
    done = run(desk, "install", "claude-code", "--yes")
    assert (done.returncode, file.read_text()) == (2, text)
    assert "twice" in done.stderr


def test_a_read_only_file_is_not_replaced(desk: Desk, file: Path) -> None:
    file.write_text("{}")
    file.chmod(0o444)
    done = run(desk, "install", "claude-code", "--yes")
    assert (done.returncode, file.read_text()) == (2, "{}")
    assert "read-only" in done.stderr


def test_what_others_write_while_a_person_reads_the_difference_is_not_lost(desk: Desk, file: Path) -> None:
    file.write_text("{}")
    environment = {"HOME": str(desk.home), "PATH": desk.environment["PATH"]}
    with Terminal([PROGRAM, "install", "claude-code"], desk.home, environment, size=(100, 200)) as screen:
        screen.waits_at("Write this? [y/N]")
        file.write_text('{"model": "opus"}')
        screen.type("y")
        screen.press("Enter")
        assert screen.exit_code() == 2
    assert file.read_text() == '{"model": "opus"}'


def test_a_folders_settings_name_the_command_and_no_persons_path(desk: Desk, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    assert run(desk, "install", "claude-code", "--project", "--yes", folder=project).returncode == 0
    text = (project / ".claude" / "settings.json").read_text()
    assert '"command": "interlock-hook"' in text
    assert str(tmp_path) not in text


def test_the_key_is_kept_for_its_owner_only_and_not_in_the_agents_settings(desk: Desk, file: Path) -> None:
    done = run(desk, "install", "claude-code", "--yes", "--url", desk.url, "--key", desk.key)
    assert done.returncode == 0
    kept = desk.home / ".config" / "interlock" / "hook.json"
    assert kept.stat().st_mode & 0o077 == 0
    assert json.loads(kept.read_text()) == {"url": desk.url, "key": desk.key}
    assert desk.key not in file.read_text() + done.stdout + done.stderr
    done = run(desk, "status", "claude-code")
    assert (done.returncode, "takes requests" in done.stdout) == (0, True), done.stdout


def test_status_tells_what_is_missing(desk: Desk, file: Path, server: ServerProcess) -> None:
    done = run(desk, "status", "claude-code")
    assert (done.returncode, "not installed" in done.stdout) == (2, True)
    file.write_text('{"disableAllHooks": true}')
    assert run(desk, "install", "claude-code", "--yes", "--url", server.url, "--key", "ms_sk_wrong").returncode == 0
    done = run(desk, "status", "claude-code")
    assert done.returncode == 2
    for told in ("PermissionRequest", "disableAllHooks", "refuses the key", "auto mode"):
        assert told in done.stdout


@pytest.mark.parametrize(
    "options",
    [("--timeout", "5"), ("--timeout", "long"), ("--defer",), ("--mode", "sometimes"), ("--on-timeout", "yes")],
)
def test_what_cannot_be_installed_is_refused(desk: Desk, file: Path, options: tuple[str, ...]) -> None:
    done = run(desk, "install", "claude-code", "--yes", *options)
    assert done.returncode == 2
    assert done.stderr
    assert not file.exists()
