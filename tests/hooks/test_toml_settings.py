"""Codex' hooks in its config.toml: ours are put in, found and taken out; comments and what others wrote stay."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.hook import Desk
from tests.hooks.test_installing import run

OTHERS = """# top
model = "gpt-5" # for now
notify = [ # in several lines
  "a", # one
]

[features]
hooks = true

# what I have
[[ hooks . "PermissionRequest" ]] # others
matcher = "Bash]#"
  # inside
[[hooks.PermissionRequest.hooks]]
type = "command"
command = '''
[[hooks.PermissionRequest]]
command = "interlock-hook codex"
'''

[hooks.state."KEY"]
trusted_hash = "sha256:0" # of theirs
"""
OURS = """[[hooks.PermissionRequest]]
matcher = ".*"

[[hooks.PermissionRequest.hooks]]
type = "command"
command = "interlock-hook codex --timeout 30"
timeout = 30
"""


@pytest.fixture
def file(desk: Desk) -> Path:
    folder = desk.home / ".codex"
    folder.mkdir()
    return folder / "config.toml"


def handlers(file: Path, event: str = "PermissionRequest") -> list[dict[str, Any]]:
    groups = tomllib.loads(file.read_text("utf-8-sig")).get("hooks", {}).get(event, [])
    return [one for group in groups for one in group["hooks"]]


def ours(file: Path) -> list[dict[str, Any]]:
    return [one for one in handlers(file) if "interlock-hook" in one["command"].splitlines()[0]]


def change(desk: Desk, *arguments: str) -> str:
    done = run(desk, *arguments, "--yes")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("before", [OTHERS, "\ufeff" + OTHERS.replace("\n", "\r\n")], ids=["unix", "windows"])
def test_what_others_wrote_stays_to_the_last_character(desk: Desk, file: Path, before: str) -> None:
    file.write_bytes(before.encode())
    assert "+[[hooks.PermissionRequest.hooks]]" in change(desk, "install", "codex")
    written = file.read_bytes().decode()
    assert written.startswith(before)
    [asks] = ours(file)
    assert asks["timeout"] == 120
    assert not file.with_name("hooks.json").exists()
    assert "stays as it is" in run(desk, "install", "codex").stdout
    assert str(file) in run(desk, "status", "codex").stdout
    change(desk, "uninstall", "codex")
    assert file.read_bytes().decode() == before


def test_ours_is_replaced_where_it_is(desk: Desk, file: Path) -> None:
    # Codex knows a hook that is trusted by its place.
    file.write_text(OURS + "\n" + OTHERS.partition("# what I have\n")[2])
    change(desk, "install", "codex", "--timeout", "100")
    assert [one.get("timeout") for one in handlers(file)] == [100, None]
    change(desk, "install", "codex", "--mode", "every-call")
    assert ours(file) == []
    assert len(handlers(file, "PreToolUse")) == 1
    assert len(handlers(file)) == 1


def test_comments_in_ours_outlive_it(desk: Desk, file: Path) -> None:
    commented = OURS.replace("timeout = 30", "timeout = 30 # short") + "# about tools\n\n# really\n[tools]\na = 1\n"
    file.write_text("# above\n" + commented)
    change(desk, "uninstall", "codex")
    assert file.read_text() == "# above\n# short\n# about tools\n\n# really\n[tools]\na = 1\n"


def test_of_a_group_that_is_shared_ours_alone_is_taken(desk: Desk, file: Path) -> None:
    theirs = '[[hooks.PermissionRequest.hooks]]\ntype = "command"\ncommand = "true"\n'
    file.write_text(OURS + theirs)
    change(desk, "uninstall", "codex")
    assert [one["command"] for one in handlers(file)] == ["true"]


@pytest.mark.parametrize(
    "text",
    [
        '[hooks]\nPermissionRequest = [{matcher = "x", hooks = [{command = "interlock-hook codex"}]}]\nStop = []\n',
        'hooks.PermissionRequest = [{hooks = [{command = "interlock-hook codex"}]}]\n',
        'hooks = {PermissionRequest = [{hooks = [{command = "interlock-hook codex"}]}]}\n',
        '[[hooks.PermissionRequest]]\nhooks = [{command = "interlock hook codex"}] # here\n',
    ],
)
def test_ours_in_one_value_is_found_and_taken(desk: Desk, file: Path, text: str) -> None:
    file.write_text(text)
    assert "not installed" not in run(desk, "status", "codex").stdout
    change(desk, "uninstall", "codex")
    assert "interlock" not in file.read_text()
    assert "not installed" in run(desk, "status", "codex").stdout


@pytest.mark.parametrize(
    "text",
    [
        '[hooks]\nPermissionRequest = [{hooks = [{command = "true"}]}]\n',
        'hooks = {PermissionRequest = [{hooks = [{command = "true"}, {command = "interlock-hook codex"}]}]}\n',
        'hooks = "none"\n',
        "[[hooks.PermissionRequest]\n",
        "a = 1\na = 2\n",
    ],
)
def test_what_cannot_be_changed_alone_is_not_touched(desk: Desk, file: Path, text: str) -> None:
    file.write_text(text)
    done = run(desk, "install", "codex", "--yes")
    if done.returncode == 0:
        # Hooks of nobody are in there: ours have a file of their own.
        assert text == 'hooks = "none"\n'
    else:
        assert (done.returncode, str(file) in done.stderr) == (2, True)
    assert file.read_text() == text


def test_in_two_files_it_is_told_of_and_one_is_left(desk: Desk, file: Path) -> None:
    file.write_text(OTHERS)
    change(desk, "install", "codex")
    both = file.read_text()
    file.unlink()
    change(desk, "install", "codex")
    file.write_text(both)
    assert "it is in 2 files" in run(desk, "status", "codex").stdout
    told = change(desk, "install", "codex")
    assert "-[[hooks.PermissionRequest]]" in told
    assert file.read_text() == OTHERS
    assert "interlock-hook" in file.with_name("hooks.json").read_text()


def test_a_folder_has_a_config_of_its_own(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".codex").mkdir(parents=True)
    file = folder / ".codex" / "config.toml"
    file.write_text(OTHERS)
    assert run(desk, "install", "codex", "--project", "--yes", folder=folder).returncode == 0
    assert ours(file)[0]["command"].startswith("interlock-hook codex")


def test_a_link_to_it_is_followed(desk: Desk, file: Path) -> None:
    kept = desk.home / "dotfiles"
    kept.write_text(OTHERS)
    file.symlink_to(kept)
    change(desk, "install", "codex")
    assert file.is_symlink()
    assert kept.read_text().startswith(OTHERS)
