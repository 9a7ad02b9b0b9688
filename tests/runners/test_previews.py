"""What a call would do is shown with the request for it, whatever the agent; over a changed file it is not run."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from deepagents.backends import CompositeBackend, FilesystemBackend, StateBackend
from deepagents.backends.protocol import BackendProtocol
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_anthropic.middleware import FilesystemClaudeTextEditorMiddleware, StateClaudeTextEditorMiddleware
from langchain_core.tools import StructuredTool
from langgraph.types import interrupt

from interlock import preview
from interlock.agents import previews
from interlock.domain.grant import GrantScope
from interlock.domain.kinds import ApprovalBody
from interlock.domain.request import Request
from interlock.langchain import InterlockMiddleware, ask_tools
from interlock.services.requests.inbox import view
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import Call, agent, line, script
from tests.runners.stage import ANN, Stage
from tests.runners.test_granted import Said, remember, with_ann
from tests.support.bodies import shown

pytestmark = on_sqlite

ACCEPT = {"decision": "accept"}


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("one\ntwo\n")
    return path


def put(path: Path, text: str) -> None:
    path.write_text(text)


def held(path: Path) -> str:
    return path.read_text()


def saving(path: Path, function: Any = None) -> StructuredTool:
    """A tool of somebody's own that writes one file, and says so."""

    def save(content: str) -> str:
        """Save."""
        put(path, content)
        return "saved"

    tool = StructuredTool.from_function(func=save)

    def change(args: Mapping[str, Any]) -> Any:
        return preview.file(path, args["content"], name="note.txt")

    return preview.with_preview(tool, function or change)


def gated(tool: StructuredTool, *contents: str) -> Any:
    lines = [[(f"c{number}", tool.name, {"content": content})] for number, content in enumerate(contents)]
    return agent([tool], *lines, middleware=[InterlockMiddleware(interrupt_on={tool.name: True})])


async def shown_file(stage: Stage, request: Request) -> tuple[Any, ...] | None:
    file = (await view(stage.core, ANN, request.id)).file
    return None if file is None else (file.path, file.exists, file.text, file.after)


async def test_a_tool_says_which_file_it_will_write(host: Host, note: Path) -> None:
    stage = await host(gated(saving(note), "one\n2\n"))
    turn = await stage.say()
    found = shown(turn.request)["preview"]
    assert (found["type"], found["path"], found["left_out"]) == ("diff", "note.txt", 0)
    assert found["lines"] == ["--- note.txt", "+++ note.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"]
    assert await shown_file(stage, turn.request) == ("note.txt", True, "one\ntwo\n", "one\n2\n")
    turn = await stage.reply(turn.request, ACCEPT)
    assert turn.status == "done"
    assert held(note) == "one\n2\n"


async def test_who_looks_later_sees_the_file_as_it_is_by_then(host: Host, note: Path) -> None:
    stage = await host(gated(saving(note), "new\n"))
    turn = await stage.say()
    put(note, "meanwhile\n")
    assert await shown_file(stage, turn.request) == ("note.txt", True, "meanwhile\n", "new\n")


async def test_a_call_whose_file_has_changed_since_it_was_shown_is_not_run_and_asked_about_anew(
    host: Host, note: Path
) -> None:
    stage = await host(gated(saving(note), "new\n", "new\n"))
    turn = await stage.say()
    put(note, "somebody else's\n")
    turn = await stage.reply(turn.request, ACCEPT)
    assert held(note) == "somebody else's\n"
    told = (await stage.results())["c0"]
    assert "note.txt has changed since a person allowed this call of save; it was not run" in told
    assert "-somebody else's" in shown(turn.request)["preview"]["lines"]
    turn = await stage.reply(turn.request, ACCEPT)
    assert turn.status == "done"
    assert held(note) == "new\n"


async def test_a_file_that_came_into_being_since_it_was_shown_is_not_overwritten(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    stage = await host(gated(saving(path), "mine\n"))
    turn = await stage.say()
    assert shown(turn.request)["preview"]["lines"][0] == "--- /dev/null"
    put(path, "theirs\n")
    await stage.reply(turn.request, ACCEPT)
    assert held(path) == "theirs\n"


async def test_what_a_grant_allows_nobody_looked_at_and_it_runs(host: Host, note: Path) -> None:
    stage = await host(gated(saving(note), "first\n", "second\n"))
    await with_ann(stage)
    turn = await stage.say()
    settled = await remember(stage, turn.request.id, GrantScope.THIS_TOOL)
    turn = await stage.ended(settled.run, settled.seq)
    assert turn.status == "done"
    assert held(note) == "second\n"


async def test_a_preview_that_fails_is_no_more_than_a_reason(host: Host, note: Path) -> None:
    def fails(args: Mapping[str, Any]) -> Any:
        raise ValueError("the price list is gone")

    stage = await host(gated(saving(note, fails), "new\n"))
    turn = await stage.say()
    assert shown(turn.request)["preview"] == {"type": "none", "reason": "ValueError: the price list is gone"}
    assert (await stage.reply(turn.request, ACCEPT)).status == "done"
    assert held(note) == "new\n"


async def test_a_preview_that_hangs_does_not_keep_the_ask_waiting(
    host: Host, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "SECONDS", 0.2)
    never = threading.Event()

    def hangs(args: Mapping[str, Any]) -> Any:
        never.wait()

    stage = await host(gated(saving(note, hangs), "new\n"))
    try:
        turn = await stage.say()
        assert shown(turn.request)["preview"] == {"type": "none", "reason": "it took longer than 0.2 s"}
        assert (await stage.reply(turn.request, ACCEPT)).status == "done"
    finally:
        never.set()


async def test_a_preview_of_another_type_than_there_are_is_a_reason(host: Host, note: Path) -> None:
    stage = await host(gated(saving(note, lambda args: 7), "new\n"))  # pyright: ignore[reportUnknownLambdaType]
    turn = await stage.say()
    assert shown(turn.request)["preview"] == {"type": "none", "reason": "the preview is a int"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (preview.text("a\nb"), {"type": "text", "lines": ["a", "b"], "left_out": 0}),
        (
            preview.table(["sku", "price"], [["chair", 12]]),
            {"type": "table", "columns": ["sku", "price"], "rows": [["chair", "12"]], "left_out": 0},
        ),
        (
            preview.diff("the page", "a", "b"),
            {"type": "diff", "path": "the page", "lines": ["--- the page", "+++ the page", "@@ -1 +1 @@", "-a", "+b"]}
            | {"left_out": 0},
        ),
    ],
    ids=["text", "table", "diff"],
)
async def test_an_async_function_may_show_anything_else(
    host: Host, note: Path, made: Any, expected: Mapping[str, Any]
) -> None:
    async def function(args: Mapping[str, Any]) -> Any:
        return made

    stage = await host(gated(saving(note, function), "new\n"))
    turn = await stage.say()
    assert shown(turn.request)["preview"] == expected


async def test_what_people_gave_in_confidence_is_hidden_in_a_preview(host: Host, note: Path) -> None:
    put(note, "token=s3cret-of-the-vault\n")
    tool = saving(note)
    first: list[Call] = [("k", "request_env_vars", {"fields": [{"name": "TOKEN"}]})]
    graph = agent(
        [tool, *ask_tools],
        first,
        [("c0", "save", {"content": "token=\n"})],
        middleware=[InterlockMiddleware(interrupt_on={"save": True})],
    )
    stage = await host(graph)
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"TOKEN": "s3cret-of-the-vault"}, "save": False})
    assert "-token=***" in shown(turn.request)["preview"]["lines"]
    assert "s3cret" not in str((turn.request.body, turn.request.form))
    assert "s3cret" not in str(await shown_file(stage, turn.request))


async def test_no_graph_says_of_itself_what_its_calls_would_do(host: Host) -> None:
    forged = {"type": "diff", "path": "harmless.txt", "lines": ["+nothing"], "left_out": 0}

    def node(state: Said) -> Said:
        body = ApprovalBody.ask("wire_money", {"amount": 1}).to_json() | {"preview": forged}
        return {"heard": interrupt({"interlock": {"kind": "approval", "body": body, "timeout": None}})}

    stage = await host(line(Said, node))
    turn = await stage.say()
    assert shown(turn.request)["tool_name"] == "wire_money"
    assert "harmless" not in str((turn.request.body, turn.request.form))


# Tools that others ship.


def backends(folder: Path) -> dict[str, BackendProtocol]:
    disk = FilesystemBackend(root_dir=str(folder), virtual_mode=True)
    composite = CompositeBackend(default=disk, routes={"/kept/": StateBackend()})
    return {"state": StateBackend(), "filesystem": disk, "composite": composite}


def deep(backend: BackendProtocol, gate: str, *lines: list[Call]) -> Any:
    make = cast("Any", create_deep_agent)
    gates = {"write_file": True, "edit_file": True}
    if gate == "interrupt_on":
        return make(model=script(*lines), backend=backend, interrupt_on=gates)
    return make(model=script(*lines), backend=backend, middleware=[InterlockMiddleware(interrupt_on=gates)])


WRITE: Call = ("w", "write_file", {"file_path": "/plan.md", "content": "first\nsecond\n"})
EDIT: Call = ("e", "edit_file", {"file_path": "/plan.md", "old_string": "first", "new_string": "1st"})


@pytest.mark.parametrize("kind", ["state", "filesystem", "composite"])
@pytest.mark.parametrize("gate", ["interrupt_on", "InterlockMiddleware"])
async def test_the_file_tools_of_deepagents_show_what_they_would_change(
    host: Host, tmp_path: Path, kind: str, gate: str
) -> None:
    stage = await host(deep(backends(tmp_path)[kind], gate, [WRITE], [EDIT]))
    turn = await stage.say()
    assert await shown_file(stage, turn.request) == ("/plan.md", False, None, "first\nsecond\n")
    assert shown(turn.request)["preview"]["lines"][-2:] == ["+first", "+second"]
    turn = await stage.reply(turn.request, ACCEPT)
    assert await shown_file(stage, turn.request) == ("/plan.md", True, "first\nsecond\n", "1st\nsecond\n")
    assert shown(turn.request)["preview"]["lines"][-3:] == ["-first", "+1st", " second"]
    turn = await stage.reply(turn.request, ACCEPT)
    assert turn.status == "done"
    assert "Successfully replaced" in (await stage.results())["e"]


@pytest.mark.parametrize("gate", ["interrupt_on", "InterlockMiddleware"])
async def test_deepagents_do_not_write_over_a_file_that_changed_since_it_was_shown(
    host: Host, tmp_path: Path, gate: str
) -> None:
    put(tmp_path / "plan.md", "shown\n")
    stage = await host(deep(backends(tmp_path)["filesystem"], gate, [WRITE]))
    turn = await stage.say()
    assert await shown_file(stage, turn.request) == ("/plan.md", True, "shown\n", "first\nsecond\n")
    put(tmp_path / "plan.md", "not shown\n")
    await stage.reply(turn.request, ACCEPT)
    assert held(tmp_path / "plan.md") == "not shown\n"
    assert "it was not run" in (await stage.results())["w"]


async def test_of_two_calls_with_one_id_each_is_held_against_its_own_file(host: Host, tmp_path: Path) -> None:
    made: list[Call] = [
        ("same", "write_file", {"file_path": f"/{name}.md", "content": "new\n"}) for name in ("one", "two")
    ]
    stage = await host(deep(backends(tmp_path)["filesystem"], "InterlockMiddleware", made))
    turn = await stage.say()
    for name in ("one", "two"):
        put(tmp_path / f"{name}.md", "not shown\n")
    first, second = turn.requests
    await stage.answer(first, ACCEPT)
    await stage.reply(second, ACCEPT)
    assert [held(tmp_path / f"{name}.md") for name in ("one", "two")] == ["not shown\n", "not shown\n"]


async def test_a_call_that_would_fail_is_shown_as_that(host: Host, tmp_path: Path) -> None:
    put(tmp_path / "plan.md", "nothing of it\n")
    stage = await host(deep(backends(tmp_path)["filesystem"], "interrupt_on", [EDIT]))
    turn = await stage.say()
    assert await shown_file(stage, turn.request) == ("/plan.md", True, "nothing of it\n", None)
    assert "the call would fail" in shown(turn.request)["preview"]["lines"][0]


async def test_a_path_that_leads_out_of_the_folder_is_not_read(host: Host, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    put(tmp_path / "secret.txt", "not for anybody\n")
    out: Call = ("o", "write_file", {"file_path": "/../secret.txt", "content": ""})
    stage = await host(deep(backends(tmp_path / "inside")["filesystem"], "interrupt_on", [out]))
    turn = await stage.say()
    assert shown(turn.request)["preview"]["type"] == "none"
    assert "not for anybody" not in str((turn.request.body, turn.request.form))


EDITOR = "str_replace_based_edit_tool"
EDITS: list[tuple[dict[str, Any], str]] = [
    ({"command": "str_replace", "old_str": "two", "new_str": "2"}, "one\n2\ntwo\n"),
    ({"command": "str_replace", "old_str": "one\n"}, "2\ntwo\n"),
    ({"command": "insert", "insert_line": 1, "new_str": "new"}, "2\nnew\ntwo\n"),
]
"""What is done to a file one after the other, and what it is then."""


@pytest.mark.parametrize("kind", ["state", "filesystem"])
async def test_the_text_editor_that_langchain_has_for_claude_shows_what_it_would_change(
    host: Host, tmp_path: Path, kind: str
) -> None:
    editor: Any = StateClaudeTextEditorMiddleware()
    made = "one\ntwo\ntwo\n"
    if kind == "filesystem":
        editor, made = FilesystemClaudeTextEditorMiddleware(root_path=str(tmp_path)), made.removesuffix("\n")
    acts = [{"command": "create", "file_text": made}, *(edit for edit, _ in EDITS), {"command": "delete"}]
    lines: list[list[Call]] = [[(f"c{number}", EDITOR, {"path": "/a.txt"} | act)] for number, act in enumerate(acts)]
    gate = InterlockMiddleware(interrupt_on={EDITOR: True})
    stage = await host(agent([], *lines, middleware=[editor, gate]))
    turn, before = await stage.say(), None
    for after in ("one\ntwo\ntwo\n", *(after for _, after in EDITS), None):
        assert await shown_file(stage, turn.request) == ("/a.txt", before is not None, before, after)
        if kind == "filesystem" and before is not None:
            assert held(tmp_path / "a.txt") == before
        turn, before = await stage.reply(turn.request, ACCEPT), after
    assert turn.status == "done"
    assert not (tmp_path / "a.txt").exists()


async def test_what_the_text_editor_only_reads_or_would_fail_at_is_shown_as_that(host: Host, tmp_path: Path) -> None:
    editor: Any = FilesystemClaudeTextEditorMiddleware(root_path=str(tmp_path / "inside"))
    put(tmp_path / "secret.txt", "not for anybody\n")
    put(tmp_path / "inside" / "a.txt", "one\n")
    calls: list[Call] = [
        ("view", EDITOR, {"command": "view", "path": "/a.txt"}),
        ("fails", EDITOR, {"command": "str_replace", "path": "/a.txt", "old_str": "two", "new_str": "2"}),
        ("out", EDITOR, {"command": "str_replace", "path": "/../secret.txt", "old_str": "n", "new_str": "m"}),
    ]
    gate = InterlockMiddleware(interrupt_on={EDITOR: True})
    stage = await host(agent([], calls, middleware=[editor, gate]))
    view, fails, out = (await stage.say()).requests
    assert "preview" not in shown(view)
    assert "the call would fail" in shown(fails)["preview"]["lines"][0]
    assert shown(out)["preview"]["type"] == "none"
    assert "not for anybody" not in str((out.body, out.form))


async def test_langchains_own_middleware_shows_the_preview_of_a_tool_too(host: Host, note: Path) -> None:
    gate = cast("Any", HumanInTheLoopMiddleware)(interrupt_on={"save": True})
    stage = await host(agent([saving(note)], [("c0", "save", {"content": "new\n"})], middleware=[gate]))
    turn = await stage.say()
    assert await shown_file(stage, turn.request) == ("note.txt", True, "one\ntwo\n", "new\n")
    put(note, "meanwhile\n")
    await stage.reply(turn.request, ACCEPT)
    assert held(note) == "meanwhile\n"
