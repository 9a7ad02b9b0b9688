"""`interlock answer`, `pending`, `follow`, `login` and `logout`, as a script runs them."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Interlock
from tests.cli.terminal.driving import Asker
from tests.support.hitl import CHOICE, QUESTION, SEVERAL, VARIABLES, HitlClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

ANSWERS: list[tuple[str, dict[str, Any], list[str], str, dict[str, Any]]] = [
    ("permission", {"tool_name": "t", "args": {}}, ["--yes"], "", {"granted": True}),
    ("permission", {"tool_name": "t", "args": {}}, ["--no"], "", {"granted": False}),
    (
        "permission",
        {"tool_name": "t", "args": {}},
        ["--no", "--reason", "not now"],
        "",
        {"granted": False, "reason": "not now"},
    ),
    ("permission", {"tool_name": "t", "args": {}}, ["--reply", "use x"], "", {"granted": False, "reply": "use x"}),
    (
        "permission",
        {"tool_name": "t", "args": {"a": 1}},
        ["--yes", "--args", '{"a": 2}'],
        "",
        {"granted": True, "args": {"a": 2}},
    ),
    (
        "permission",
        {"tool_name": "t", "args": {"a": 1}},
        ["--yes", "--args", "-"],
        '{"a": 3}',
        {"granted": True, "args": {"a": 3}},
    ),
    ("clarification", {"question": "Who?"}, ["--text", "me"], "", {"answer": "me"}),
    ("clarification", QUESTION, ["--option", "B"], "", {"answer": "B"}),
    ("clarification", SEVERAL, ["--answers", "this", "b"], "", {"answers": ["this", "b"]}),
    ("decision", CHOICE, ["--decision", "proceed", "--reason", "ok"], "", {"decision": "proceed", "reason": "ok"}),
    (
        "env_var",
        VARIABLES,
        ["--value", "API_KEY", "--value", "REGION"],
        "sesame7\neu\n",
        {"values": {"API_KEY": "***", "REGION": "eu"}, "save": False},
    ),
    (
        "env_var",
        VARIABLES,
        ["--value", "API_KEY=sesame7", "--value", "REGION=eu", "--insecure", "--save"],
        "",
        {"values": {"API_KEY": "***", "REGION": "eu"}, "save": True},
    ),
]


@pytest.mark.parametrize(("kind", "asked", "options", "typed", "response"), ANSWERS, ids=lambda one: str(one)[:40])
def test_each_kind_is_answered(
    interlock: Interlock,
    server: ServerProcess,
    key: str,
    asker: Asker,
    kind: str,
    asked: dict[str, Any],
    options: list[str],
    typed: str,
    response: dict[str, Any],
) -> None:
    request_id = asker.ask(kind, asked)["request_id"]
    done = interlock("answer", request_id, *options, given=typed, url=server.url, key=key)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{request_id} is answered\n"
    assert asker.response_to(request_id) == response


def test_an_answer_is_remembered_when_that_is_said(
    interlock: Interlock, server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    options = ["--yes", "--remember", "forever", "--scope", "this_tool"]
    done = interlock("answer", asker.approval(), *options, url=server.url, key=key)
    assert done.returncode == 0
    (grant,) = person.grants()
    assert (grant["scope"], grant["duration"], grant["ceiling"]) == ("this_tool", "forever", "medium")
    assert f"It stands in all of {grant['owner']}'s conversations with this agent until revoked." in done.stdout


def test_high_risk_is_remembered_when_that_is_said_and_confirmed(
    interlock: Interlock, server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    request_id = asker.approval()
    options = ["--yes", "--remember", "session", "--scope", "all_tools", "--also-high-risk"]
    done = interlock("answer", request_id, *options, url=server.url, key=key)
    assert done.returncode == 2
    assert "--confirm-high-risk" in done.stderr
    assert person.look(request_id)["status"] == "pending"
    assert interlock("answer", request_id, *options, "--confirm-high-risk", url=server.url, key=key).returncode == 0
    assert [grant["ceiling"] for grant in person.grants()] == ["high"]


def test_a_request_is_cancelled(interlock: Interlock, server: ServerProcess, key: str, asker: Asker) -> None:
    request_id = asker.approval()
    done = interlock("answer", request_id, "--cancel", "--reason", "no need", url=server.url, key=key)
    assert done.stdout == f"{request_id} is cancelled\n"
    assert asker.look(request_id)["status"] == "cancelled"


def test_what_the_server_refuses_is_exit_code_1_with_the_reason(
    interlock: Interlock, server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    request_id = asker.approval()
    wrong = interlock("answer", request_id, "--text", "what", url=server.url, key=key)
    assert wrong.returncode == 1
    assert person.look(request_id)["status"] == "pending"
    assert interlock("answer", request_id, "--no", url=server.url, key=key).returncode == 0
    late = interlock("answer", request_id, "--yes", url=server.url, key=key)
    assert late.returncode == 1
    assert "by person-" in late.stderr
    assert len(late.stderr.splitlines()) == 1
    unknown = interlock("answer", "perm_00000000", "--yes", url=server.url, key=key)
    assert unknown.returncode == 1


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--yes", "--no"],
        ["--yes", "--reason", "x"],
        ["--no", "--args", "{}"],
        ["--yes", "--args", "nonsense"],
        ["--yes", "--args", "[1]"],
        ["--text", "x", "more"],
        ["--yes", "--scope", "this_tool"],
        ["--yes", "--remember", "sometimes"],
        ["--yes", "--remember", "forever", "--scope", "everything"],
        ["--yes", "--remember", "forever", "--args", "{}"],
        ["--yes", "--also-high-risk", "--confirm-high-risk"],
        ["--yes", "--remember", "forever", "--also-high-risk", "--confirm-high-risk"],
        ["--yes", "--remember", "forever", "--scope", "this_tool", "--confirm-high-risk"],
        ["--no", "--remember", "forever", "--scope", "this_tool", "--also-high-risk", "--confirm-high-risk"],
        ["--yes", "--save"],
        ["--value", "NAME=sesame7"],
        ["--value", "NAME"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_exit_code_2_and_sends_nothing(interlock: Interlock, options: list[str]) -> None:
    done = interlock("answer", "perm_1", *options, url="http://127.0.0.1:9")
    assert done.returncode == 2
    assert "sesame7" not in done.stdout + done.stderr


def test_pending_lists_what_waits_and_shows_hidden_characters(
    interlock: Interlock, server: ServerProcess, key: str, asker: Asker
) -> None:
    first = asker.approval("del\x1b[31m", args={"path": "\u202ea"}, risk_level="high")
    second = asker.ask("clarification", {"question": "Two\nlines?"})["request_id"]
    listed = interlock("pending", url=server.url, key=key).stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    assert [(row[0], row[1], row[3]) for row in rows] == [(first, "approval", "high"), (second, "clarification", "-")]
    assert "del\\x1b[31m" in rows[0][6]
    assert "\\u202e" in rows[0][6]
    assert rows[1][6] == "Two\\x0alines?"
    risky = interlock("pending", "--json", "--risk", "high", url=server.url, key=key).stdout
    assert risky.isascii()
    assert [(one["request_id"], one["request_data"]["args"]) for one in json.loads(risky)] == [
        (first, {"path": "\u202ea"})
    ]
    assert json.loads(interlock("pending", "--json", "--type", "decision", url=server.url, key=key).stdout) == []


def test_pending_refuses_filters_that_are_none(interlock: Interlock) -> None:
    assert interlock("pending", "--risk", "huge", url="http://127.0.0.1:9").returncode == 2
    assert interlock("pending", "--type", "approval", url="http://127.0.0.1:9").returncode == 2


def test_a_server_that_is_not_there_or_not_ours_is_said_in_one_line(
    interlock: Interlock, server: ServerProcess
) -> None:
    no_key = interlock("pending", url=server.url)
    assert no_key.returncode == 1
    assert "interlock login" in no_key.stderr
    no_address = interlock("pending", url="nonsense")
    assert (no_address.returncode, len(no_address.stderr.splitlines())) == (2, 1)


def test_follow_tells_what_happens_until_it_is_interrupted(
    server: ServerProcess, key: str, owner: ThreadsClient, person: HitlClient, tmp_path: Path
) -> None:
    thread = owner.new_thread()
    output = tmp_path / "followed"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "interlock", "follow", thread, "--json"],
            env={**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": key, "PYTHONUNBUFFERED": "1"},
            stdout=file,
            stderr=subprocess.PIPE,
        )
    try:

        def told() -> list[dict[str, Any]]:
            return [json.loads(line) for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]

        # It follows from when it is there: say things until it hears one.
        wait_for(lambda: _said_and(owner, thread, told), lambda seen: any(one["event"] == "End" for one in seen))
        owner.chat(thread, script(calls(("guarded", {"name": "x\x1b"}))))
        asked = wait_for(told, lambda seen: any(one["event"] == "RequestAsked" for one in seen))
        request_id = next(one["request_id"] for one in asked if one["event"] == "RequestAsked")
        person.respond(request_id, {"granted": True})
        names = [one["event"] for one in wait_for(told, lambda seen: seen[-1]["event"] == "End" and _ran(seen))]
        assert {"RequestAsked", "RequestSettled", "ToolStart", "ToolEnd", "Partial"} <= set(names)
    finally:
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert errors == b""


def _said_and(owner: ThreadsClient, thread: str, told: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    assert owner.chat(thread, script({"say": ["hello"]})).status == 200
    return told()


def _ran(seen: list[dict[str, Any]]) -> bool:
    return any(one["event"] == "ToolEnd" for one in seen)


def test_follow_without_a_thread_tells_what_is_asked_in_all_of_them(
    server: ServerProcess, key: str, owner: ThreadsClient, person: HitlClient, tmp_path: Path
) -> None:
    output = tmp_path / "followed"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "interlock", "follow"],
            env={**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": key, "PYTHONUNBUFFERED": "1"},
            stdout=file,
            stderr=subprocess.PIPE,
        )
    try:
        asked = [owner.new_thread(), owner.new_thread()]
        for thread in asked:
            owner.chat(thread, script(calls(("guarded", {"name": "x\x1b"}))))
        ids = [person.one_pending(thread)["request_id"] for thread in asked]
        wait_for(output.read_text, lambda text: all(f"? {one} approval, " in text for one in ids))
        person.respond(ids[0], {"granted": False, "reason": "not this"})
        text = wait_for(output.read_text, lambda text: f"! {ids[0]} " in text and text.endswith("\n"))
        (line,) = [line for line in text.splitlines() if line.startswith(f"! {ids[0]} ")]
        assert "refused this at" in line
        assert line.endswith('(hitl): "not this".')
        assert "\x1b" not in text
    finally:
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
    assert (process.returncode, errors) == (130, b"")


def test_follow_of_anothers_thread_is_refused(
    interlock: Interlock, server: ServerProcess, key: str, people: People
) -> None:
    theirs = people.named("root").new_thread()
    done = interlock("follow", theirs, url=server.url, key=key)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def test_login_keeps_a_key_that_only_its_owner_may_read_and_logout_revokes_it(
    interlock: Interlock, server: ServerProcess, owner: ThreadsClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    done = interlock("login", "--user", owner.username, given="wonderland\n", url=server.url)
    assert done.returncode == 0, done.stderr
    assert "wonderland" not in done.stdout
    file = tmp_path / "config" / "interlock" / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = json.loads(file.read_text())[server.url]["key"]
    assert kept not in done.stdout
    assert interlock("pending", url=server.url).returncode == 0
    assert interlock("pending", "--url", f"{server.url}/").returncode == 0
    file.chmod(0o644)
    refused = interlock("pending", url=server.url)
    assert (refused.returncode, "chmod 600" in refused.stderr) == (2, True)
    file.chmod(0o600)
    wrong = interlock("logout", given="nonsense\n", url=server.url)
    assert (wrong.returncode, list(json.loads(file.read_text()))) == (1, [server.url])
    assert interlock("logout", given="wonderland\n", url=server.url).returncode == 0
    assert json.loads(file.read_text()) == {}
    assert interlock("pending", url=server.url).returncode == 1
    assert interlock("pending", url=server.url, key=kept).returncode == 1


def test_a_key_that_is_only_forgotten_is_said_to_hold(
    interlock: Interlock, server: ServerProcess, owner: ThreadsClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert interlock("login", "--user", owner.username, given="wonderland\n", url=server.url).returncode == 0
    file = tmp_path / "config" / "interlock" / "credentials.json"
    kept = json.loads(file.read_text())[server.url]["key"]
    done = interlock("logout", "--forget", url=server.url)
    assert (done.returncode, "still holds" in done.stdout) == (0, True)
    assert json.loads(file.read_text()) == {}
    assert interlock("pending", url=server.url, key=kept).returncode == 0


def test_login_keeps_a_key_that_one_has(
    interlock: Interlock, server: ServerProcess, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    wrong = interlock("login", "--with-key", given="ms_sk_nonsense\n", url=server.url)
    assert wrong.returncode == 1
    assert not (tmp_path / "config" / "interlock" / "credentials.json").exists()
    assert interlock("login", "--with-key", given=f"{key}\n", url=server.url).returncode == 0
    assert interlock("pending", url=server.url).returncode == 0
    assert interlock("logout", url=server.url).returncode == 0
    assert interlock("pending", url=server.url, key=key).returncode == 0


def test_a_wrong_password_keeps_nothing(
    interlock: Interlock, server: ServerProcess, owner: ThreadsClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    done = interlock("login", "--user", owner.username, given="nonsense\n", url=server.url)
    assert done.returncode == 1
    assert not (tmp_path / "config").exists()


def test_on_a_server_without_accounts_a_name_is_enough(interlock: Interlock, tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "trusting", auth="none")
    try:
        url = process.start().url
        with HitlClient(url, "none") as li:
            asked = li.ask("clarification", {"question": "Who?"}, user_id="li")["request_id"]
            assert interlock("pending", "--user", "bo", url=url).stdout == ""
            assert asked in interlock("pending", "--user", "li", url=url).stdout
            assert interlock("answer", asked, "--text", "me", "--user", "bo", url=url).returncode == 1
            assert interlock("answer", asked, "--text", "me", "--user", "li", url=url).returncode == 0
            assert li.look(asked, user_id="li")["answered_by"] == "li"
    finally:
        process.close()
