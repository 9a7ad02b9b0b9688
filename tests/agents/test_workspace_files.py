"""The demo agent's file tools do what they say, and never outside of their folder."""

import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from interlock.agents.demo.folder import Folder, OutsideFolder
from interlock.agents.demo.workspace import Limits, workspace_tools


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


def tool(root: Path, name: str, limits: Limits | None = None) -> BaseTool:
    return next(tool for tool in workspace_tools(root, limits) if tool.name == name)


def invoke(root: Path, name: str, args: dict[str, str], limits: Limits | None = None) -> ToolMessage:
    message = tool(root, name, limits).invoke({"type": "tool_call", "id": "call_1", "name": name, "args": args})
    assert isinstance(message, ToolMessage)
    return message


def call(root: Path, name: str, limits: Limits | None = None, **args: str) -> ToolMessage:
    return invoke(root, name, args, limits)


def test_the_tools_are_named_and_described_for_a_model(root: Path) -> None:
    tools = {tool.name: tool for tool in workspace_tools(root)}
    assert list(tools) == ["read_file", "list_files", "write_file", "edit_file", "delete_file", "execute"]
    assert {name: list(tool.args) for name, tool in tools.items()} == {
        "read_file": ["path"],
        "list_files": ["path"],
        "write_file": ["path", "content"],
        "edit_file": ["path", "old", "new"],
        "delete_file": ["path"],
        "execute": ["command"],
    }
    for one in tools.values():
        assert "Args:" not in one.description
        assert all(argument["description"] for argument in one.args.values())


def test_a_file_is_written_read_edited_listed_and_deleted(root: Path) -> None:
    assert call(root, "write_file", path="src/a.txt", content="你好\nworld\n").status == "success"
    assert call(root, "read_file", path="src/a.txt").text == "你好\nworld\n"
    assert call(root, "edit_file", path="src/a.txt", old="world", new="世界").status == "success"
    assert (root / "src/a.txt").read_text() == "你好\n世界\n"
    assert call(root, "list_files").text == "src/"
    assert call(root, "list_files", path="src").text == "a.txt (14 bytes)"
    assert call(root, "delete_file", path="src/a.txt").status == "success"
    assert call(root, "list_files", path="src").text == "(empty)"


def test_an_absolute_path_and_dots_are_taken_when_they_end_inside(root: Path) -> None:
    assert call(root, "write_file", path=str(root / "a.txt"), content="a").status == "success"
    (root / "sub").mkdir()
    assert call(root, "read_file", path="sub/../a.txt").text == "a"


def attempts(path: str) -> list[tuple[str, dict[str, str]]]:
    return [
        ("read_file", {"path": path}),
        ("list_files", {"path": path}),
        ("write_file", {"path": path, "content": "changed"}),
        ("edit_file", {"path": path, "old": "secret", "new": "changed"}),
        ("delete_file", {"path": path}),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "ABSOLUTE",
        "file_link",
        "dir_link/secret.txt",
        "dir_link/new.txt",
        "dir_link",
        "link_to_link",
        "relative_link/secret.txt",
        "dangling_link",
        "../workspace-twin/secret.txt",
        "/",
        "..",
    ],
)
def test_nothing_outside_is_reached(root: Path, outside: Path, path: str) -> None:
    twin = root.parent / "workspace-twin"
    twin.mkdir()
    (twin / "secret.txt").write_text("secret")
    (root / "sub").mkdir()
    (root / "file_link").symlink_to(outside / "secret.txt")
    (root / "dir_link").symlink_to(outside)
    (root / "relative_link").symlink_to("../outside")
    (root / "link_to_link").symlink_to("file_link")
    (root / "dangling_link").symlink_to(outside / "new.txt")
    if path == "ABSOLUTE":
        path = str(outside / "secret.txt")
    for name, args in attempts(path):
        refused = invoke(root, name, args)
        assert refused.status == "error", name
        assert "outside the workspace" in refused.text, name
    assert [entry.name for entry in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == (twin / "secret.txt").read_text() == "secret"
    assert (root / "file_link").is_symlink()


def test_a_link_that_stays_inside_is_followed_and_deleting_it_spares_what_it_points_to(root: Path) -> None:
    (root / "real.txt").write_text("real")
    (root / "link").symlink_to("real.txt")
    assert call(root, "read_file", path="link").text == "real"
    assert "link (a link)" in call(root, "list_files").text
    assert call(root, "delete_file", path="link").status == "success"
    assert (root / "real.txt").read_text() == "real"


def test_a_link_put_in_place_after_the_check_is_not_followed(root: Path, outside: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/secret.txt").write_text("mine")
    folder = Folder(root)
    file, directory, entry = (
        folder.locate("sub/secret.txt"),
        folder.locate("sub"),
        folder.locate_entry("sub/secret.txt"),
    )
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(outside)
    with pytest.raises(OSError):
        folder.read(file, 100)
    with pytest.raises(OSError):
        folder.write(file, b"changed")
    with pytest.raises(OSError):
        folder.delete(entry)
    with pytest.raises(OSError):
        folder.entries(directory)
    assert (outside / "secret.txt").read_text() == "secret"


def test_a_file_swapped_for_a_link_after_the_check_is_not_followed(root: Path, outside: Path) -> None:
    (root / "a.txt").write_text("mine")
    folder = Folder(root)
    location = folder.locate("a.txt")
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to(outside / "secret.txt")
    with pytest.raises(OSError):
        folder.read(location, 100)
    assert call(root, "write_file", path="a.txt", content="changed").status == "error"
    assert (outside / "secret.txt").read_text() == "secret"


# In a process of its own: a thread would wait for the same lock, and hardly ever come in between.
SWAP = """
import itertools, os, sys
for target in itertools.cycle((sys.argv[1], "real")):
    os.symlink(target, "next")
    os.rename("next", "sub")
"""


def test_a_folder_that_turns_into_a_link_and_back_all_the_time_lets_nothing_out(root: Path, outside: Path) -> None:
    folder = Folder(root)
    (root / "real").mkdir()
    (root / "sub").symlink_to("real")
    written = 0
    with subprocess.Popen([sys.executable, "-c", SWAP, str(outside)], cwd=root) as swapping:
        try:
            for _ in range(300):
                with suppress(OSError, OutsideFolder):
                    folder.write(folder.locate("sub/new.txt"), b"x")
                    written += 1
            for _ in range(10_000):
                with pytest.raises((OSError, OutsideFolder)):
                    folder.read(folder.locate("sub/secret.txt"), 100)
        finally:
            swapping.kill()
    assert written
    assert [entry.name for entry in outside.iterdir()] == ["secret.txt"]


def test_a_write_that_fails_halfway_leaves_the_old_file_and_nothing_else(root: Path) -> None:
    (root / "a.txt").write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        failed = call(root, "write_file", path="a.txt", content="new" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.status == "error"
    assert os.listdir(root) == ["a.txt"]
    assert (root / "a.txt").read_text() == "old"


def test_a_write_puts_a_new_file_in_place_of_the_old_one_and_keeps_its_mode(root: Path) -> None:
    script = root / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    with script.open() as before:
        assert "Replaced" in call(root, "write_file", path="run.sh", content="new").text
        assert before.read() == "old"
    assert script.read_text() == "new"
    assert script.stat().st_mode & 0o777 == 0o750


def test_what_a_crash_in_the_middle_of_a_write_leaves_is_not_listed(root: Path) -> None:
    (root / ".interlock-write-0123456789abcdef").write_text("hal")
    assert call(root, "list_files").text == "(empty)"


def test_a_long_file_is_cut_between_characters_and_the_result_says_so(root: Path) -> None:
    (root / "long.txt").write_text("好" * 100)
    text = call(root, "read_file", Limits(read_bytes=100), path="long.txt").text
    assert text.startswith("好" * 33 + "\n[... cut")
    assert "first 100 of 300 bytes" in text


def test_a_long_listing_is_cut_and_the_result_says_so(root: Path) -> None:
    for number in range(5):
        (root / f"{number}.txt").touch()
    listed = call(root, "list_files", Limits(listed=3)).text.splitlines()
    assert [line.split()[0] for line in listed[:3]] == ["0.txt", "1.txt", "2.txt"]
    assert "2 more" in listed[3]


@pytest.mark.parametrize(("old", "count"), [("missing", 0), ("twice", 2), ("", 0)])
def test_an_edit_needs_a_passage_that_occurs_once(root: Path, old: str, count: int) -> None:
    (root / "a.txt").write_text("twice and twice")
    refused = call(root, "edit_file", path="a.txt", old=old, new="x")
    assert refused.status == "error"
    assert f"occurs {count} times" in refused.text
    assert (root / "a.txt").read_text() == "twice and twice"


def test_what_is_no_text_file_is_told_to_the_model(root: Path) -> None:
    (root / "binary").write_bytes(b"\xff\xfe")
    (root / "nul").write_bytes(b"a\0b")
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    (root / "long.txt").write_text("x" * 200)
    small = Limits(edit_bytes=100)
    messages = [
        call(root, "read_file", path="binary"),
        call(root, "read_file", path="nul"),
        call(root, "read_file", path="folder"),
        call(root, "read_file", path="pipe"),
        call(root, "read_file", path="missing.txt"),
        call(root, "read_file", path="a\0b"),
        call(root, "list_files", path="binary"),
        call(root, "write_file", path="folder", content="x"),
        call(root, "write_file", path=".", content="x"),
        call(root, "write_file", path="binary/x", content="x"),
        call(root, "edit_file", small, path="long.txt", old="x", new="y"),
        call(root, "delete_file", path="folder"),
        call(root, "delete_file", path="."),
        call(root, "delete_file", path="missing.txt"),
    ]
    assert {message.status for message in messages} == {"error"}
    assert all(message.text.startswith("Error: ") for message in messages)
    assert (root / "folder").is_dir()
