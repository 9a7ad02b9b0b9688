"""`interlock acp`: the editor and the inbox are both asked, and the first answer is the agent's."""

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.client.network import Network
from tests.hooks.editor import Editor
from tests.hooks.gemini import command as gemini_command
from tests.hooks.gemini_model import GeminiModel, use
from tests.hooks.hook import Desk, soon
from tests.hooks.mortal import MortalServer
from tests.support.hitl import HitlClient, error_of
from tests.support.server import ServerProcess

AGENT = (sys.executable, str(Path(__file__).parent / "acp_agent.py"))
TOUCH: dict[str, Any] = {
    "id": "one",
    "asked": {"title": "touch one.txt", "kind": "execute", "rawInput": {"command": "touch one.txt"}},
}
YES = {"outcome": "selected", "optionId": "yes"}
NO = {"outcome": "selected", "optionId": "no"}

Start = Callable[..., Editor]


@pytest.fixture
def agent() -> str:
    return "small"


@pytest.fixture
def start(desk: Desk, tmp_path: Path) -> Generator[Start]:
    """An editor that has begun a session."""
    folder = tmp_path / "my-project"
    folder.mkdir()
    editors: list[Editor] = []

    def begin(*options: str, **variables: str) -> Editor:
        editor = Editor(desk, AGENT, folder, *options, **variables)
        editors.append(editor)
        assert editor.begin() == "s1"
        return editor

    yield begin
    for editor in editors:
        editor.__exit__()


def reason_of(desk: Desk, asked: dict[str, Any]) -> str:
    """Why nobody can answer it any more."""
    late = desk.person.try_respond(asked["request_id"], {"granted": True})
    return error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")["reason"]


@pytest.mark.parametrize(("granted", "outcome"), [(True, YES), (False, NO)])
def test_an_answer_in_the_inbox_goes_to_the_agent_and_closes_the_editors_dialog(
    desk: Desk, start: Start, granted: bool, outcome: dict[str, Any]
) -> None:
    editor = start()
    turn = editor.calls(TOUCH)
    dialog = editor.asked()
    [asked] = desk.asked()
    data = asked["request_data"]
    assert (data["tool_name"], data["args"]) == ("execute", {"command": "touch one.txt"})
    assert data["allowed"] == ["accept", "reject"]
    assert data["description"] == f"Small, in {editor.folder}"
    desk.person.respond(asked["request_id"], {"granted": granted})
    assert editor.outcomes(turn) == {"one": [outcome]}
    assert editor.cancelled() == dialog["id"]


@pytest.mark.parametrize(("kind", "option"), [("allow_once", "yes"), ("reject_once", "no"), ("allow_always", "")])
def test_an_answer_in_the_editor_withdraws_the_request(desk: Desk, start: Start, kind: str, option: str) -> None:
    editor = start()
    turn = editor.calls(TOUCH)
    dialog = editor.asked()
    [asked] = desk.asked()
    editor.choose(dialog, kind)
    [outcome] = editor.outcomes(turn)["one"]
    assert outcome["optionId"] == (option or "yes-for-good")
    soon(desk.waiting, lambda found: found == [])
    assert reason_of(desk, asked) == "answered_at_the_terminal"


def test_an_editor_that_comes_second_is_not_heard(desk: Desk, start: Start) -> None:
    editor = start()
    turn = editor.calls(TOUCH, {**TOUCH, "id": "two"})
    first, second = editor.asked(), editor.asked()
    asked = desk.asked(2)
    desk.deny(next(one for one in asked if one["request_data"]["args"])["request_id"])
    closed = editor.cancelled()
    late, left = (first, second) if closed == first["id"] else (second, first)
    editor.choose(late, "allow_once")
    editor.choose(left, "allow_once")
    assert editor.outcomes(turn) == {late["id"]: [NO], left["id"]: [YES]}


def test_two_calls_that_are_alike_each_have_an_answer(desk: Desk, start: Start) -> None:
    editor = start()
    turn = editor.calls(TOUCH, {**TOUCH, "id": "two"})
    one, two = desk.asked(2)
    assert one["conversation_id"] == two["conversation_id"]
    desk.allow(one["request_id"])
    editor.cancelled()
    assert [left["request_id"] for left in desk.waiting()] == [two["request_id"]]
    desk.deny(two["request_id"])
    assert sorted(outcome["optionId"] for [outcome] in editor.outcomes(turn).values()) == ["no", "yes"]


def test_many_races_have_one_winner_each(desk: Desk, start: Start) -> None:
    editor = start()
    calls = [{**TOUCH, "id": f"call-{number}"} for number in range(8)]
    turn = editor.calls(*calls)
    dialogs = [editor.asked() for _ in calls]
    for asked, dialog in zip(desk.asked(len(calls)), dialogs, strict=True):
        desk.person.try_respond(asked["request_id"], {"granted": False})
        editor.choose(dialog, "allow_once")
    outcomes = editor.outcomes(turn)
    assert all(len(each) == 1 for each in outcomes.values())
    assert outcomes.keys() == {call["id"] for call in calls}
    soon(desk.waiting, lambda found: found == [])


def test_what_was_told_before_is_shown_and_missing_arguments_are_told(desk: Desk, start: Start) -> None:
    editor = start()
    difference = {"type": "diff", "path": "/a/e.txt", "oldText": "a", "newText": "b"}
    told = {"title": "Edit e.txt", "kind": "edit", "status": "pending", "content": [difference]}
    editor.calls({"id": "one", "told": told, "asked": {"title": "Edit e.txt now", "content": None}})
    [asked] = desk.asked()
    data = asked["request_data"]
    assert data["tool_name"] == "edit"
    assert data["args"] == {"title": "Edit e.txt now", "content": [difference]}
    assert "did not give the arguments" in data["description"]


def test_nothing_is_shown_of_a_call_that_had_the_same_id_before(desk: Desk, start: Start) -> None:
    editor = start()
    told = {"title": "Look", "kind": "execute", "status": "pending", "rawInput": {"command": "ls"}}
    editor.calls({"id": "one", "told": told})
    desk.deny(desk.asked()[0]["request_id"])
    told = {"title": "Delete everything", "kind": "execute", "status": "pending"}
    soon(desk.waiting, lambda found: found == [])
    editor.calls({"id": "one", "told": told})
    assert desk.asked()[0]["request_data"]["args"] == {"title": "Delete everything"}


@pytest.mark.parametrize("odd_id", [None, 7, ""])
def test_nothing_is_shown_of_another_call_that_has_no_id_either(desk: Desk, start: Start, odd_id: Any) -> None:
    editor = start()
    shown = {**TOUCH, "asked": {**TOUCH["asked"], "toolCallId": odd_id}}
    editor.calls(shown, {"id": "two", "asked": {"title": "Delete everything", "kind": "execute", "toolCallId": odd_id}})
    args = [one["request_data"]["args"] for one in desk.asked(2)]
    assert sorted(args, key=str) == [{"command": "touch one.txt"}, {"title": "Delete everything"}]


def test_a_late_answer_in_the_editor_is_not_for_another_call_with_the_same_id(desk: Desk, start: Start) -> None:
    editor = start()
    turn = editor.calls(TOUCH)
    first = editor.asked()
    desk.deny(desk.asked()[0]["request_id"])
    assert editor.outcomes(turn) == {"one": [NO]}
    turn = editor.calls({**TOUCH, "asked": {"title": "rm -r /", "kind": "execute"}})
    second = editor.asked()
    desk.asked()
    # The dialog of the first call was still there.
    editor.choose(first, "allow_once")
    editor.choose(second, "reject_once")
    assert editor.outcomes(turn) == {"one": [NO]}


@pytest.mark.parametrize(
    ("kinds", "allowed"),
    [(["allow_always", "reject_once"], ["reject"]), (["allow_once", "allow_once", "reject_once"], ["reject"])],
)
def test_only_what_the_agent_can_take_for_once_is_offered(
    desk: Desk, start: Start, kinds: list[str], allowed: list[str]
) -> None:
    editor = start()
    options = [{"optionId": f"{number}", "name": kind, "kind": kind} for number, kind in enumerate(kinds)]
    turn = editor.calls({**TOUCH, "options": options})
    [asked] = desk.asked()
    assert asked["request_data"]["allowed"] == allowed
    desk.deny(asked["request_id"])
    assert editor.outcomes(turn)["one"][0]["optionId"] == str(len(kinds) - 1)


def test_one_id_for_two_options_is_left_to_the_editor(desk: Desk, start: Start) -> None:
    editor = start()
    options = [{"optionId": "same", "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    turn = editor.calls({**TOUCH, "id": "other", "options": options}, TOUCH)
    [asked] = desk.asked()
    desk.deny(asked["request_id"])
    for _ in "ab":
        dialog = editor.asked()
        if dialog["id"] == "other":
            editor.choose(dialog, "reject_once")
    assert editor.outcomes(turn) == {"other": [{"outcome": "selected", "optionId": "same"}], "one": [NO]}


def test_what_holds_for_good_only_is_left_to_the_editor(desk: Desk, start: Start) -> None:
    editor = start()
    for_good = {"optionId": "x", "name": "Always", "kind": "allow_always"}
    turn = editor.calls({**TOUCH, "id": "other", "options": [for_good]}, TOUCH)
    assert [one["request_data"]["args"] for one in desk.asked()] == [TOUCH["asked"]["rawInput"]]
    for dialog in (editor.asked(), editor.asked()):
        editor.choose(dialog, "allow_always")
    assert editor.outcomes(turn)["other"] == [{"outcome": "selected", "optionId": "x"}]


def test_a_turn_that_is_cancelled_takes_its_request_with_it(desk: Desk, start: Start) -> None:
    editor = start()
    turn = editor.calls(TOUCH)
    dialog = editor.asked()
    [asked] = desk.asked()
    editor.send(method="session/cancel", params={"sessionId": "s1"})
    soon(desk.waiting, lambda found: found == [])
    editor.send(id=dialog["id"], result={"outcome": {"outcome": "cancelled"}})
    assert editor.outcomes(turn) == {"one": [{"outcome": "cancelled"}]}
    assert reason_of(desk, asked) == "answered_at_the_terminal"


def test_an_agent_that_no_longer_asks_withdraws_the_request(desk: Desk, start: Start) -> None:
    editor = start()
    editor.calls(TOUCH)
    [asked] = desk.asked()
    editor.send(method="small/withdraw", params={"id": "one"})
    assert editor.cancelled() == "one"
    soon(desk.waiting, lambda found: found == [])
    assert reason_of(desk, asked) == "the agent no longer waits"


@pytest.mark.parametrize("how", ["leaves", "stops", "agent ends"])
def test_nothing_is_left_open_when_one_of_them_ends(desk: Desk, start: Start, how: str) -> None:
    editor = start()
    editor.calls(TOUCH)
    [asked] = desk.asked()
    if how == "agent ends":
        editor.send(method="small/exit", params={"code": 7})
    else:
        (editor.leave if how == "leaves" else editor.stop)()
    code, _ = editor.ended()
    assert code == (7 if how == "agent ends" else 0)
    assert desk.waiting() == []
    assert reason_of(desk, asked) == "the agent no longer waits"


def test_what_a_proxy_that_was_killed_asked_is_never_a_yes_and_the_next_one_withdraws_it(
    desk: Desk, start: Start
) -> None:
    killed, other = start(), start()
    for editor in (killed, other):
        editor.calls(TOUCH, {**TOUCH, "id": "two"})
    asked = {one["request_id"] for one in desk.asked(4)}
    noted = (desk.home / ".local" / "state" / "interlock" / "acp").glob
    soon(lambda: [file.read_text() for file in noted("*.asks")], lambda all_: all(one in str(all_) for one in asked))
    killed.process.kill()
    killed.ended()
    assert {one["request_id"] for one in desk.waiting()} == asked
    # The agent has gone, too: another one begins, and asks anew.
    again = start()
    left = soon(desk.waiting, lambda found: len(found) == 2)
    turn = again.calls(TOUCH)
    [new] = [one for one in desk.asked(3) if one["request_id"] not in asked]
    gone = next(one for one in asked if one not in {each["request_id"] for each in left})
    assert reason_of(desk, {"request_id": gone}) == "the agent no longer waits"
    desk.allow(new["request_id"])
    assert again.outcomes(turn) == {"one": [YES]}
    # What asks in another window is left alone.
    assert {one["request_id"] for one in desk.waiting()} == {one["request_id"] for one in left}


def test_everything_else_is_passed_on_as_it_is(start: Start) -> None:
    editor = start()
    for value in ({"text": "x" * 3_000_000}, {"text": "\ud800", "number": 1e400}, {"deep": [[[["ü"]]]]}):
        echoed = editor.result(editor.request("small/echo", **value))
        assert echoed == value


def test_a_server_that_is_away_leaves_it_to_the_editor_and_is_waited_for(
    desk: Desk, start: Start, server: ServerProcess
) -> None:
    with Network("http://127.0.0.1:9") as network:
        editor = start(INTERLOCK_URL=network.url)
        turn = editor.calls(TOUCH)
        editor.choose(editor.asked(), "allow_once")
        assert editor.outcomes(turn) == {"one": [YES]}
        turn = editor.calls({"id": "two", "asked": {"kind": "execute", "rawInput": {"command": "touch two.txt"}}})
        editor.asked()
        network.target = server.url
        # The first may have been sent for all anybody knows: it is withdrawn when that can be told.
        [asked] = soon(desk.waiting, lambda found: ["two.txt" in str(one) for one in found] == [True])
        desk.deny(asked["request_id"])
        assert editor.outcomes(turn) == {"two": [NO]}


def test_a_server_that_is_killed_and_started_again_has_the_same_request(mortal: MortalServer, tmp_path: Path) -> None:
    desk = mortal.desk
    with Editor(desk, AGENT, tmp_path) as editor:
        editor.begin()
        turn = editor.calls(TOUCH)
        [asked] = desk.asked()
        mortal.restart()
        assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
        desk.allow(asked["request_id"])
        assert editor.outcomes(turn) == {"one": [YES]}


def test_an_answer_in_the_editor_is_told_when_a_server_that_was_away_is_back(
    mortal: MortalServer, tmp_path: Path
) -> None:
    desk = mortal.desk
    with Editor(desk, AGENT, tmp_path) as editor:
        editor.begin()
        turn = editor.calls(TOUCH)
        dialog = editor.asked()
        [asked] = desk.asked()
        mortal.kill()
        editor.choose(dialog, "reject_once")
        assert editor.outcomes(turn) == {"one": [NO]}
        mortal.outlast()
        mortal.start()
        soon(desk.waiting, lambda found: found == [])
    assert reason_of(desk, asked) == "answered_at_the_terminal"


def test_a_connection_that_is_cut_asks_nobody_twice(desk: Desk, start: Start, server: ServerProcess) -> None:
    with Network(server.url) as network:
        network.losing = 2
        editor = start(INTERLOCK_URL=network.url)
        turn = editor.calls(TOUCH)
        soon(lambda: network.losing, lambda left: left == 0)
        [asked] = desk.asked()
        network.cut()
        desk.allow(asked["request_id"])
        assert editor.outcomes(turn) == {"one": [YES]}
    assert desk.waiting() == []


@pytest.mark.parametrize("given", [{"text": "x" * 2_000_000}, {"number": float("nan")}], ids=["large", "nan"])
def test_what_cannot_be_asked_here_is_left_to_the_editor(desk: Desk, start: Start, given: dict[str, Any]) -> None:
    editor = start()
    turn = editor.calls({"id": "one", "asked": {"kind": "other", "rawInput": given}}, {**TOUCH, "id": "two"})
    dialog = editor.asked()
    desk.allow(desk.asked()[0]["request_id"])
    editor.choose(dialog, "reject_once")
    assert editor.outcomes(turn) == {"one": [NO], "two": [YES]}


def test_a_key_that_is_revoked_while_it_waits_leaves_it_to_the_editor(desk: Desk, start: Start) -> None:
    made = desk.person.new_key("revoked", "agent", agent="small")
    editor = start(INTERLOCK_KEY=made["key"])
    turn = editor.calls(TOUCH)
    dialog = editor.asked()
    with HitlClient(desk.url, made["key"]) as agent:
        soon(lambda: agent.everything()["pending_requests"], bool)
    desk.person.http.delete(f"/api/v1/keys/{made['id']}").raise_for_status()
    editor.choose(dialog, "allow_once")
    assert editor.outcomes(turn) == {"one": [YES]}


def test_an_agent_that_cannot_be_started_is_told_in_one_line(desk: Desk, tmp_path: Path) -> None:
    with Editor(desk, [str(tmp_path / "gone")], tmp_path) as editor:
        code, said = editor.ended()
    assert code == 2
    assert len(said.splitlines()) == 1
    assert "gone cannot be started" in said


def test_gemini_itself_asks_both(desk: Desk, tmp_path: Path) -> None:
    touch = use("run_shell_command", command="touch one.txt", description="Make one")
    write = use("write_file", file_path=str(tmp_path / "my-project" / "two.txt"), content="two")
    folder = tmp_path / "my-project"
    folder.mkdir()
    settings = desk.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    with GeminiModel([touch], [touch], [write]) as model:
        variables = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "scripted"}
        command = [*gemini_command(), "--acp", "--skip-trust", "-m", "gemini-2.5-pro"]
        with Editor(desk, command, folder, **variables) as editor:
            session = editor.begin(180)
            turn = editor.prompt(session, "go")
            # First in the inbox, then in the editor.
            dialog = editor.asked()
            [asked] = desk.asked()
            assert "touch one.txt" in str(asked["request_data"])
            desk.allow(asked["request_id"])
            assert editor.cancelled() == dialog["id"]
            soon(lambda: (folder / "one.txt").exists(), bool)
            editor.choose(editor.asked(), "reject_once")
            soon(lambda: desk.waiting(), lambda found: "two.txt" in str(found))
            editor.asked()
            [asked] = desk.asked()
            assert "'newText': 'two'" in str(asked["request_data"]["args"])
            desk.deny(asked["request_id"])
            editor.result(turn)
            assert [file.name for file in folder.iterdir()] == ["one.txt"]
