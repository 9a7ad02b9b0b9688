"""OpenCode itself asks a person beside its terminal; the model is a script, everything else is real."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.client.network import Network
from tests.hooks.completions_model import CompletionsModel, ToolCall, use
from tests.hooks.hook import Desk, soon
from tests.hooks.mortal import MortalServer
from tests.hooks.opencode import OpenCode, watching
from tests.support.hitl import error_of
from tests.support.server import ServerProcess

TOUCH = use("bash", command="touch one.txt", description="Make one")
COLOURS = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


@pytest.fixture
def agent() -> str:
    return "opencode"


@pytest.fixture(scope="module")
def model() -> Generator[CompletionsModel]:
    with CompletionsModel() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def opencode(model: CompletionsModel, tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenCode]:
    """One for all tests: it takes long to start. Each test has a session of its own."""
    process = OpenCode(tmp_path_factory.mktemp("opencode"), model)
    try:
        yield process
    finally:
        process.close()


@pytest.fixture
def script(model: CompletionsModel, opencode: OpenCode) -> Callable[..., str]:
    """Begins a session in which the model makes these calls, one turn after another."""

    def begin(*turns: list[ToolCall]) -> str:
        model.begin(*turns)
        for file in opencode.folder.glob("*.txt"):
            file.unlink()
        return opencode.prompt()

    return begin


def made(opencode: OpenCode) -> list[str]:
    return sorted(file.name for file in opencode.folder.glob("*.txt"))


Script = Callable[..., str]


def test_a_yes_runs_the_call_as_it_was_asked(
    desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        data = asked["request_data"]
        assert (data["tool_name"], data["allowed"]) == ("bash", ["accept", "reject"])
        assert data["args"] == {"command": "touch one.txt", "description": "Make one"}
        assert data["description"] == f"OpenCode, in {opencode.folder}"
        assert made(opencode) == []
        desk.allow(asked["request_id"])
        soon(lambda: model.results, lambda results: "call_1" in results)
        assert made(opencode) == ["one.txt"]


def test_a_no_is_told_to_the_model(desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel) -> None:
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        desk.deny(desk.asked()[0]["request_id"], reason="use two.txt")
        soon(lambda: model.results, lambda results: "call_1" in results)
        assert "A person refused it: use two.txt" in model.results["call_1"]
        assert made(opencode) == []


def test_an_answer_at_the_terminal_withdraws_the_request(
    desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        opencode.reply(opencode.asks()[-1]["id"], reply="once")
        soon(desk.waiting, lambda found: found == [])
        late = desk.person.try_respond(asked["request_id"], {"granted": False})
        details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
        assert details["reason"] == "answered_at_the_terminal"
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_two_calls_that_are_alike_and_asked_at_once_each_have_an_answer(
    desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    count = use("bash", command="echo x >> many.txt", description="Count")
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([count, {**count, "id": "call_2"}])
        one, two = desk.asked(2)
        assert one["conversation_id"] == two["conversation_id"]
        desk.allow(one["request_id"])
        soon(lambda: made(opencode), lambda found: found == ["many.txt"])
        assert [left["request_id"] for left in desk.waiting()] == [two["request_id"]]
        desk.deny(two["request_id"])
        soon(lambda: model.results, lambda results: len(results) == 2)
        assert (opencode.folder / "many.txt").read_text() == "x\n"


def test_an_edit_is_shown_with_its_difference(desk: Desk, opencode: OpenCode, script: Script) -> None:
    file = opencode.folder / "e.md"
    file.write_text("a")
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([use("edit", filePath=str(file), oldString="a", newString="b")])
        [asked] = desk.asked()
        args = asked["request_data"]["args"]
        assert (args["filePath"], args["oldString"], args["newString"]) == (str(file), "a", "b")
        assert "-a\n" in args["diff"]
        desk.allow(asked["request_id"])
        soon(file.read_text, lambda text: text == "b")


def test_questions_are_answered_in_the_inbox_or_at_the_terminal(
    desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    with watching(desk, opencode) as watch:
        watch.says("following")
        several = {**COLOURS, "question": "Which colours?", "multiple": True}
        script([use("question", questions=[COLOURS, several])], [use("question", "call_2", questions=[COLOURS])])
        [asked] = desk.asked()
        shown = [one["question"] for one in asked["request_data"]["questions"]]
        assert shown == ["Which colour?", "Which colours? (several, with commas between)"]
        desk.person.respond(asked["request_id"], {"answers": ["Blue", "Red, Blue"]})
        soon(lambda: model.results, lambda results: "call_1" in results)
        assert "Red, Blue" in model.results["call_1"]
        desk.asked()
        opencode.reply(opencode.asks("question")[0]["id"], answers=[["Red"]])
        soon(desk.waiting, lambda found: found == [])
        soon(lambda: model.results, lambda results: "call_2" in results)


def test_a_turn_that_is_stopped_takes_its_request_with_it(desk: Desk, opencode: OpenCode, script: Script) -> None:
    with watching(desk, opencode) as watch:
        watch.says("following")
        session = script([TOUCH])
        [asked] = desk.asked()
        opencode.http.post(f"/session/{session}/abort", params=opencode.here).raise_for_status()
        soon(desk.waiting, lambda found: found == [])
        late = desk.person.try_respond(asked["request_id"], {"granted": True})
        details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
        assert details["reason"] == "the agent no longer waits"
    # OpenCode still lists it, and nobody is asked for it again.
    with watching(desk, opencode, "--directory", str(opencode.folder)) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        desk.allow(asked["request_id"])
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_who_follows_later_finds_what_is_asked_and_what_was_answered(
    desk: Desk, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    before = len(opencode.asks())
    script([TOUCH])
    soon(opencode.asks, lambda found: len(found) > before)
    here = ("--directory", str(opencode.folder))
    with watching(desk, opencode, *here):
        [asked] = desk.asked()
    # Killed, and so it withdrew nothing.
    assert [one["request_id"] for one in desk.waiting()] == [asked["request_id"]]
    desk.allow(asked["request_id"])
    with watching(desk, opencode, *here):
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])
    assert desk.waiting() == []


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_who_stops_following_withdraws_and_asks_again_later(
    desk: Desk, opencode: OpenCode, script: Script, how: signal.Signals, code: int
) -> None:
    here = ("--directory", str(opencode.folder))
    script([TOUCH])
    with watching(desk, opencode, *here) as watch:
        [asked] = desk.asked()
        watch.process.send_signal(how)
        assert watch.ended() == code
    assert desk.waiting() == []
    with watching(desk, opencode, *here):
        [again] = desk.asked()
        assert again["request_id"] != asked["request_id"]
        desk.allow(again["request_id"])
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


@contextmanager
def between(opencode: OpenCode) -> Generator[Network]:
    """A bad network in front of OpenCode."""
    url = opencode.url
    with Network(url) as network:
        opencode.url = network.url
        try:
            yield network
        finally:
            opencode.url = url


def test_a_stream_that_is_cut_loses_nothing(desk: Desk, opencode: OpenCode, script: Script) -> None:
    with between(opencode) as network, watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        network.cut()
        watch.says("following")
        assert [one["request_id"] for one in desk.waiting()] == [asked["request_id"]]
        # Answered while nobody can be told: it arrives when OpenCode is there again.
        network.target = "http://127.0.0.1:9"
        network.cut()
        watch.says("cannot be followed")
        desk.allow(asked["request_id"])
        assert made(opencode) == []
        network.target = str(opencode.http.base_url)
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_a_server_that_is_away_is_waited_for(
    desk: Desk, opencode: OpenCode, script: Script, server: ServerProcess
) -> None:
    with Network("http://127.0.0.1:9") as network, watching(desk, opencode, INTERLOCK_URL=network.url) as watch:
        watch.says("following")
        script([TOUCH])
        watch.says("trying again")
        network.target = server.url
        desk.allow(desk.asked()[0]["request_id"])
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_a_server_that_is_killed_and_started_again_has_the_same_request(
    mortal: MortalServer, opencode: OpenCode, script: Script
) -> None:
    desk = mortal.desk
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        mortal.restart()
        assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
        desk.allow(asked["request_id"])
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_an_answer_at_the_terminal_is_told_when_a_server_that_was_away_is_back(
    mortal: MortalServer, opencode: OpenCode, script: Script, model: CompletionsModel
) -> None:
    desk = mortal.desk
    with watching(desk, opencode) as watch:
        watch.says("following")
        script([TOUCH])
        [asked] = desk.asked()
        mortal.kill()
        opencode.reply(opencode.asks()[-1]["id"], reply="once")
        soon(lambda: model.results, lambda results: "call_1" in results)
        mortal.outlast()
        mortal.start()
        soon(desk.waiting, lambda found: found == [])
    late = desk.person.try_respond(asked["request_id"], {"granted": False})
    details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert details["reason"] == "answered_at_the_terminal"


def test_a_key_that_does_not_hold_leaves_it_to_the_terminal(desk: Desk, opencode: OpenCode, script: Script) -> None:
    with watching(desk, opencode, INTERLOCK_KEY="ms_sk_" + "0" * 64) as watch:
        watch.says("following")
        script([TOUCH])
        watch.says("asks at its own dialog only")
        opencode.reply(opencode.asks()[-1]["id"], reply="once")
        soon(lambda: made(opencode), lambda found: found == ["one.txt"])


def test_what_is_not_opencode_or_wants_another_password_is_told(desk: Desk, opencode: OpenCode, tmp_path: Path) -> None:
    with watching(desk, opencode, OPENCODE_SERVER_PASSWORD="another") as watch:
        watch.says("set OPENCODE_SERVER_PASSWORD")
        assert watch.ended() == 1
    with watching(desk, opencode, "--url", desk.url) as watch:
        watch.says("is no server of OpenCode")
        assert watch.ended() == 1
    with watching(desk, opencode, "--url", "ftp://nowhere") as watch:
        watch.says("is no address")
        assert watch.ended() == 2
