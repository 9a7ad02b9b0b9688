"""`interlock groups` and `interlock away`."""

import json
from datetime import datetime

import pytest

from tests.cli.conftest import Interlock
from tests.support.hitl import of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


def test_groups_are_kept_and_people_are_away(interlock: Interlock, live: ServerProcess, alice: ThreadsClient) -> None:
    """Alice came first, and so is the admin."""
    bob = ThreadsClient(live.url, "bob").sign_in()
    with of(alice) as one, of(bob) as other:
        keys = {"alice": one.new_key("laptop")["key"], "bob": other.new_key("laptop")["key"]}
    bob.http.close()

    def run(who: str, *arguments: str, code: int = 0) -> str:
        done = interlock(*arguments, url=live.url, key=keys[who])
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    assert run("alice", "groups", "list") == ""
    assert run("alice", "groups", "add", "payments", "bob") == "payments\tlocal\tbob\n"
    run("alice", "groups", "add", "payments", code=1)
    run("bob", "groups", "set", "payments", "bob", "alice", code=1)
    run("alice", "groups", "set", "payments", "carol", code=1)
    assert run("alice", "groups", "set", "payments", "bob", "alice") == "payments\tlocal\talice, bob\n"
    assert json.loads(run("bob", "groups", "list", "--json")) == [
        {"name": "payments", "source": "local", "members": ["alice", "bob"]}
    ]
    run("alice", "groups", "remove", "refunds", code=1)
    run("alice", "groups", "remove", "payments")
    assert run("bob", "groups", "list") == ""

    assert run("bob", "away") == "not away\n"
    run("bob", "away", "--until", "2099-01-31T09:30:00Z", "--from", "2098-01-31T09:30:00+08:00", "--to", "alice")
    word, since, until, to = run("bob", "away").rstrip("\n").split("\t")
    assert (word, to) == ("away", "alice")
    moments = [datetime.fromisoformat("2098-01-31T01:30:00Z"), datetime.fromisoformat("2099-01-31T09:30:00Z")]
    assert [datetime.fromisoformat(one) for one in (since, until)] == moments
    assert set(json.loads(run("bob", "away", "--json"))) == {"from", "until", "to"}
    run("bob", "away", "--until", "2099-01-31", "--person", "alice", code=1)
    run("bob", "away", "--until", "2099-01-31", "--to", "bob", code=1)
    assert run("alice", "away", "--back", "--person", "bob") == "not away\n"
    assert run("bob", "away") == "not away\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("groups", "set", "payments"),
        ("away", "--until", "soon"),
        ("away", "--to", "bob"),
        ("away", "--person", "bob"),
        ("away", "--back", "--until", "2099-01-31"),
    ],
)
def test_wrong_usage_reaches_no_server(interlock: Interlock, arguments: tuple[str, ...]) -> None:
    assert interlock(*arguments).returncode == 2
