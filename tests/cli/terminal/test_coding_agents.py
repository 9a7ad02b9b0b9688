"""What a coding agent would change is a difference in the terminal too, and nothing of the call is left out."""

from datetime import UTC, datetime
from typing import Any

from interlock_client.cli.terminal.contents import join_lines
from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.sections import sections
from interlock_client.cli.terminal.wording import end_text
from interlock_client.events import InboxSettled
from interlock_client.inbox import InboxEntry

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def shown(tool: str, **args: Any) -> list[str]:
    data = {"tool_name": tool, "args": args, "action": "", "description": ""}
    waiting = OpenRequest("perm_1", "approval", "claude-code", "c", NOW, None, data)
    return join_lines(sections(waiting)[0].lines).plain.split("\n")


def test_an_edit_is_shown_line_by_line() -> None:
    lines = shown(
        "Edit", file_path="/p/a.py", old_string="a\nb\nc", new_string="a\n\u202ed\nc", replace_all=True, why="x"
    )
    assert lines == [
        "tool Edit",
        "edits /p/a.py, every occurrence",
        "│   a",
        "│ - b",
        "│ + \\u202ed",
        "│   c",
        'why  "x"',
        "end · 5 arguments · 1 place with hidden characters, shown reversed",
    ]


def test_a_patch_names_its_files_and_places() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ def f\n-x\n+y\n*** Delete File: c\n*** End Patch"
    assert shown("apply_patch", command=patch)[1:-1] == [
        "edits a and moves it to b",
        "│ in def f",
        "│ - x",
        "│ + y",
        "deletes c",
    ]


def test_a_cell_of_a_notebook_is_named_with_what_is_done_to_it() -> None:
    about = {"notebook_path": "a.ipynb", "cell_id": "c1"}
    inserted = shown("NotebookEdit", **about, new_source="x", edit_mode="insert", cell_type="code")
    assert inserted[1:-1] == ["adds a cell to a.ipynb", "│ after c1", "│ + x", 'cell_type  "code"']
    assert shown("NotebookEdit", **about, new_source="x")[1] == "replaces a cell of a.ipynb"
    assert shown("NotebookEdit", **about, edit_mode="delete")[1:-1] == ["deletes a cell of a.ipynb", "│ in c1"]


def test_what_was_answered_at_the_agents_terminal_is_told_as_that() -> None:
    entry = InboxEntry(
        request_id="perm_1",
        kind="approval",
        conversation_id="c",
        conversation_title="my-project",
        owner="ann",
        agent="claude-code",
        tool="Bash",
        display_name=None,
        headline="Bash ls",
        risk="medium",
        created_at=NOW,
        expires_at=None,
        pause_id="p",
        position=0,
        in_pause=1,
        batchable=False,
        looking=[],
    )
    told = end_text(InboxSettled(entry, "cancelled", "ann", None, "hitl", None, "answered_at_the_terminal"))
    assert told == "It was answered at the agent's terminal, and withdrawn here."
    other = end_text(InboxSettled(entry, "cancelled", "ann", None, "hitl", None, "no time"))
    assert other == "ann cancelled this (hitl)."
