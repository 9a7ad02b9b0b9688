"""`interlock policy`: a policy is checked, tried, replayed, saved, put in shadow, activated and explained."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock
from tests.support.hitl import of
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

POLICY = """
[[rule]]
name = "small ones"
tools = ["guarded"]
when = 'args.name.startsWith("small")'
then = "allow"

[[test]]
facts = {tool = "guarded", args = {name = "small-1"}}
expect = {then = "allow", rule = "small ones"}
[[test]]
facts = {tool = "guarded", args = {name = "large"}}
expect = {then = "ask"}
"""


def test_a_policy_goes_from_a_file_to_what_counts(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient, tmp_path: Path
) -> None:
    refused = alice.new_thread()
    alice.chat(refused, script(calls(("guarded", {"name": "small-\u202e"})), says("done")))
    with of(alice) as client:
        asked = client.one_pending(refused)["request_id"]
        key = client.new_key("laptop")["key"]
    alice.resume(refused, "cancel")
    file = tmp_path / "policy.toml"

    def policy(*arguments: str, code: int = 0, given: str = "") -> tuple[str, str]:
        done = interlock("policy", *arguments, given=given, url=live.url, key=key)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout, done.stderr

    file.write_text(POLICY.replace('then = "ask"', 'then = "deny"') + '[[rule]]\nname = "b"\nthen = "never"\n')
    for word in ("check", "test"):
        assert policy(word, str(file), code=1)[1].startswith(f"{file}:14: b: then is one of allow, deny, ask\n")
    assert policy("push", str(file), code=1)[0].startswith(f"{file}:14: b: then is one of")
    file.write_text(POLICY.replace('then = "ask"', 'then = "deny"'))
    said, problems = policy("test", str(file), code=1)
    assert said == "1 of 2 tests pass\n"
    assert problems == f"{file}:11: test 2 expects deny, and gets ask\n"
    file.write_text(POLICY)
    assert policy("check", str(file)) == (f"{file}: 1 rules, 2 tests pass\n", "")
    assert policy("test", "-", given=POLICY)[0] == "2 of 2 tests pass\n"

    facts = {"tool": "guarded", "args": {"name": "small-2"}}
    assert policy("try", str(file), json.dumps(facts))[0].splitlines() == [
        "allow: a rule decides: small ones",
        'tool = "guarded"',
        'risk = "medium"',
        'args.name = "small-2"',
    ]
    replayed = policy("replay", str(file))[0].splitlines()
    assert replayed[0] == "1\twould be allowed, and a person refused"
    assert replayed[2].split("\t")[1:3] == [asked, "guarded"]
    assert "\u202e" not in "".join(replayed)

    assert policy("push", str(file), "--note", "small ones are free")[0] == "1\n"
    assert policy("shadow", "1")[0] == "version 1 is in shadow now\n"
    thread = alice.new_thread()
    alice.chat(thread, script(calls(("guarded", {"name": "small-3"})), says("done")))
    alice.resume(thread, "cancel")
    report = policy("shadow")[0].splitlines()
    assert report[0] == "version 1: differs on 1 of 1 requests"
    assert report[1] == "1\task\twould be allowed"
    assert policy("shadow", "off")[0] == "no version is in shadow now\n"
    assert policy("shadow", code=1)[1] == "interlock: no version is in shadow\n"

    assert "no version counts by now" in policy("activate", "1", "--expected", "7", code=1)[1]
    assert policy("activate", "1")[0] == "version 1 counts now; before: no version\n"
    (row,) = policy("history")[0].splitlines()
    assert row.split("\t")[:2] == ["1", "active"]
    alice.chat(alice.new_thread(), script(calls(("guarded", {"name": "small-4"})), says("done")))
    decided = alice.http.get("/api/v1/history").json()["entries"][0]["request_id"]
    assert policy("explain", decided)[0].splitlines()[:2] == ["version: 1", "allow: a rule decides: small ones"]
    assert json.loads(policy("explain", asked, "--json")[0])["because"] == "no_policy"
    assert policy("activate", "none")[0] == "no version counts now; before: version 1\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("check", "nothing.toml"), "nothing.toml cannot be read"),
        (("activate", "1.5"), "is no number of a version"),
        (("replay", "-", "--since", "soon"), "is no moment"),
        (("try", "-", '{"outside": "yes"}'), "outside: Input should be a valid boolean"),
    ],
)
def test_wrong_usage_reaches_no_server(interlock: Interlock, arguments: tuple[str, ...], why: str) -> None:
    done = interlock("policy", *arguments)
    assert done.returncode == 2
    assert why in done.stderr
