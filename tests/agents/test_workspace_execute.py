"""The demo agent's `execute` is bounded in time, output and environment, and leaves no process behind."""

import asyncio
import os
import select
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage

from interlock.agents.demo.workspace import Limits, workspace_tools


async def execute(root: Path, command: str, limits: Limits | None = None) -> ToolMessage:
    tool = workspace_tools(root, limits)[-1]
    call = {"type": "tool_call", "id": "call_1", "name": "execute", "args": {"command": command}}
    message = await tool.ainvoke(call)
    assert isinstance(message, ToolMessage)
    return message


class Witness:
    """A pipe that the processes of a command hold open: it is hung up when the last of them is gone."""

    def __init__(self, root: Path) -> None:
        os.mkfifo(root / "alive")
        self.reading = os.open(root / "alive", os.O_RDONLY | os.O_NONBLOCK)

    async def has_begun(self) -> None:
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()
        loop.add_reader(self.reading, begun.set)
        try:
            async with asyncio.timeout(60):
                await begun.wait()
        finally:
            loop.remove_reader(self.reading)

    def assert_all_gone(self) -> None:
        poll = select.poll()
        poll.register(self.reading, select.POLLHUP)
        events = poll.poll(10_000)
        os.close(self.reading)
        assert events
        assert events[0][1] & select.POLLHUP


async def test_it_runs_in_the_workspace_and_gives_what_was_printed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    done = await execute(tmp_path, "ls; pwd; echo 你好 >&2")
    assert done.status == "success"
    assert done.text.splitlines() == ["a.txt", str(tmp_path), "你好"]


async def test_no_output_is_said(tmp_path: Path) -> None:
    assert (await execute(tmp_path, "true")).text == "(no output)"


async def test_a_failing_command_is_an_error_with_its_code_and_output(tmp_path: Path) -> None:
    failed = await execute(tmp_path, "echo broken; exit 3")
    assert failed.status == "error"
    assert failed.text == "Exit code 3\nbroken"


async def test_a_command_that_can_not_be_started_is_an_error(tmp_path: Path) -> None:
    assert (await execute(tmp_path, "echo a\0b")).text.startswith("Error: ")


async def test_it_sees_nothing_of_the_servers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SECRET", "hidden")
    monkeypatch.setenv("OPENAI_API_KEY", "hidden")
    printed = (await execute(tmp_path, "env")).text
    assert "hidden" not in printed
    assert "INTERLOCK" not in printed
    assert f"HOME={tmp_path}" in printed


async def test_it_reads_no_input(tmp_path: Path) -> None:
    assert (await execute(tmp_path, "cat")).text == "(no output)"


async def test_long_output_keeps_its_beginning_and_end_and_says_what_was_cut(tmp_path: Path) -> None:
    command = "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last"
    done = await execute(tmp_path, command, Limits(output_bytes=200))
    assert done.text.startswith("first")
    assert done.text.endswith("last")
    assert "bytes of output were cut here" in done.text
    assert len(done.text) < 300


async def test_output_that_is_no_text_is_made_readable(tmp_path: Path) -> None:
    assert (await execute(tmp_path, r"printf 'a\000b\377'")).text == "a\ufffdb\ufffd"


async def test_when_the_time_is_over_all_that_it_started_is_killed(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    command = "exec 3>alive; echo begun; sleep 600 & sleep 600"
    failed = await execute(tmp_path, command, Limits(command_seconds=0.5))
    assert failed.status == "error"
    assert failed.text.startswith("Error: timed out after 0.5 s")
    assert failed.text.endswith("begun")
    witness.assert_all_gone()


async def test_a_cancelled_call_leaves_nothing_running(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    running = asyncio.create_task(execute(tmp_path, "exec 3>alive; echo begun >&3; sleep 600 & sleep 600"))
    await witness.has_begun()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    witness.assert_all_gone()


async def test_what_is_left_in_the_background_neither_holds_it_up_nor_stays(tmp_path: Path) -> None:
    witness = Witness(tmp_path)
    async with asyncio.timeout(30):
        done = await execute(tmp_path, "exec 3>alive; sleep 600 & echo done")
    assert done.text == "done"
    witness.assert_all_gone()
