"""Calls of coding agents as what they are; what is not understood is shown as any other call."""

from typing import Any

import pytest

from interlock_client.presentation import Change, presentation

PATCH = """*** Begin Patch
*** Update File: src/app.py
*** Move to: src/main.py
@@ class App:
@@ def run(self):
 a = 1
-b = 2
+b = 3

*** End of File
*** Add File: new.txt
+one
+*** Delete File: not a header
*** Delete File: old.txt
*** End Patch
"""


def test_an_edit_is_the_text_before_and_after() -> None:
    args = {"file_path": "/p/a.py", "old_string": "a", "new_string": "b", "replace_all": True}
    found = presentation("Edit", args)
    assert found is not None
    assert found.changes == (Change("/p/a.py", "edit", "a", "b", everywhere=True),)
    assert set(found.shows) == args.keys()


def test_several_edits_are_several_changes_of_one_file() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "", "replace_all": True}]
    found = presentation("MultiEdit", {"file_path": "/p/a.py", "edits": edits})
    assert found is not None
    assert found.changes == (
        Change("/p/a.py", "edit", "a", "b"),
        Change("/p/a.py", "edit", "c", "", everywhere=True),
    )


def test_a_write_is_the_whole_file() -> None:
    found = presentation("Write", {"file_path": "/p/a.py", "content": "x\n"})
    assert found is not None
    assert found.changes == (Change("/p/a.py", "write", after="x\n"),)


def test_a_patch_is_read_to_its_last_line() -> None:
    found = presentation("apply_patch", {"command": PATCH, "workdir": "/p"})
    assert found is not None
    place = "class App:\ndef run(self):\n*** End of File"
    assert found.changes == (
        Change("src/app.py", "edit", "a = 1\nb = 2\n\n", "a = 1\nb = 3\n\n", at=place, moved_to="src/main.py"),
        Change("new.txt", "add", after="one\n*** Delete File: not a header\n"),
        Change("old.txt", "delete"),
    )
    assert found.shows == ("command",)


def test_a_file_that_is_only_moved_is_a_change() -> None:
    moved = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"
    found = presentation("apply_patch", {"command": moved})
    assert found is not None
    assert found.changes == (Change("a", "edit", moved_to="b"),)


@pytest.mark.parametrize(
    ("args", "change"),
    [
        ({"new_source": "x = 1"}, Change("/p/a.ipynb", "replace_cell", after="x = 1")),
        (
            {"new_source": "x", "cell_id": "c1", "edit_mode": "replace"},
            Change("/p/a.ipynb", "replace_cell", after="x", at="c1"),
        ),
        (
            {"new_source": "x", "cell_id": "c1", "edit_mode": "insert", "cell_type": "markdown"},
            Change("/p/a.ipynb", "insert_cell", after="x", at="c1"),
        ),
        ({"cell_id": "c1", "edit_mode": "delete"}, Change("/p/a.ipynb", "delete_cell", at="c1")),
        ({"new_source": "x", "cell_id": "c1", "edit_mode": "delete"}, Change("/p/a.ipynb", "delete_cell", at="c1")),
    ],
)
def test_a_cell_of_a_notebook_is_a_change(args: dict[str, Any], change: Change) -> None:
    found = presentation("NotebookEdit", {"notebook_path": "/p/a.ipynb", **args})
    assert found is not None
    assert found.changes == (change,)
    # What has no place in the change is shown beside it.
    assert set(args) - set(found.shows) <= {"cell_type", "new_source"}
    assert ("new_source" in found.shows) == (change.act != "delete_cell")


def test_a_plan_is_markdown() -> None:
    found = presentation("ExitPlanMode", {"plan": "# Plan", "planFilePath": "/p/plan.md"})
    assert found is not None
    assert (found.markdown, found.shows) == ("# Plan", ("plan",))


@pytest.mark.parametrize(
    ("args", "change"),
    [
        ({"filePath": "a", "oldString": "x", "newString": "y"}, Change("a", "edit", "x", "y")),
        ({"filePath": "a", "content": "y"}, Change("a", "write", after="y")),
        ({"file_path": "a", "old_string": "x", "new_string": "y"}, Change("a", "edit", "x", "y")),
        ({"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y"}]}, Change("a", "edit", "x", "y")),
        ({"content": [{"type": "diff", "path": "a", "oldText": None, "newText": "y"}]}, Change("a", "add", after="y")),
    ],
)
def test_an_edit_of_any_agent_is_known_by_its_arguments(args: dict[str, Any], change: Change) -> None:
    found = presentation("edit", {**args, "title": "Edit a"})
    assert found is not None
    assert found.changes == (change,)
    assert args.keys() <= set(found.shows)
    assert "title" not in found.shows


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Bash", {"command": "ls"}),
        ("edit", {"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y", "mode": 7}]}),
        ("edit", {"content": [{"type": "diff", "path": "a", "newText": "y"}, {"type": "content"}]}),
        ("Edit", {"file_path": "/p/a.py", "old_string": "a"}),
        ("Edit", {"file_path": "/p/a.py", "old_string": "a", "new_string": "b", "replace_all": "yes"}),
        ("MultiEdit", {"file_path": "/p/a.py", "edits": []}),
        ("MultiEdit", {"file_path": "/p/a.py", "edits": ["a"]}),
        ("MultiEdit", {"file_path": "/p/a.py", "edits": [{"old_string": "a", "new_string": "b", "mode": "x"}]}),
        ("Write", {"file_path": "/p/a.py", "content": {"a": 1}}),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb"}),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb", "new_source": "x", "edit_mode": "append"}),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb", "new_source": ["x"]}),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb", "new_source": "x", "cell_id": 3}),
        ("ExitPlanMode", {}),
        ("ExitPlanMode", {"plan": ["a"]}),
        ("apply_patch", {"command": "rm -rf /"}),
        ("apply_patch", {"command": PATCH.replace("+one", "one")}),
        ("apply_patch", {"command": PATCH.replace("*** Delete File: old.txt", "*** Delete File: old.txt\n+more")}),
        ("apply_patch", {"command": PATCH.replace(" a = 1", "*** Something: else")}),
        ("apply_patch", {"command": PATCH.replace("*** Begin Patch", "*** Begin Patch\nrm -rf /")}),
        ("apply_patch", {"command": PATCH + "rm -rf /"}),
        ("apply_patch", {"command": ["apply_patch", PATCH]}),
        ("apply_patch", {"command": "*** Begin Patch\n*** End Patch"}),
    ],
)
def test_what_does_not_have_its_shape_is_shown_by_its_arguments(tool: str, args: dict[str, Any]) -> None:
    assert presentation(tool, args) is None
