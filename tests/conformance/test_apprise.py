"""Apprise: which addresses it is given, what it sends, and that it logs none of it."""

import logging
from typing import Any

import pytest

from interlock.channels.apprise import AppriseKind, OpenApprise, plain, words
from interlock.channels.kinds import apprise_kinds
from interlock.config import load
from interlock.domain.channel import Channel, Message, Row, Shows
from interlock.domain.errors import InvalidInput
from interlock.ports.channels import Refused, Unreachable
from tests.conformance.examples import AT
from tests.support.ntfy_server import NtfyServer

ALLOWED = ("ntfys://ntfy.example.com", "ntfy://127.0.0.1:8080", "tgram://")
HIDDEN = "tk-hidden-topic"


def reads(url: str, **more: str) -> dict[str, Any]:
    return dict(AppriseKind(ALLOWED).read_settings({}, {"url": url, **more}))


def test_an_address_begins_as_the_operator_said_and_leads_nowhere_else() -> None:
    assert reads("ntfys://ntfy.example.com/{address}") == {"service": "ntfys", "by_address": True}
    assert reads("ntfys://user:word@NTFY.example.com/team")["by_address"] is False
    assert reads("ntfy://127.0.0.1:8080/{address}")["service"] == "ntfy"
    assert reads("tgram://123456789:abcdefg_hijklmnop/{address}")["service"] == "tgram"
    for url in (
        "ntfy://ntfy.example.com/{address}",
        "ntfys://ntfy.example.com.evil.example/{address}",
        "ntfys://ntfy.example.com@evil.example/{address}",
        "ntfys://ntfy.example.com:80@evil.example/{address}",
        "ntfys://ntfy.example.com:8443/{address}",
        "ntfys://{address}.example.com/team",
        "ntfys://{address}/team",
        "ntfy://127.0.0.1:8081/team",
        # To the makers' own server, with the host as a topic.
        "ntfys://ntfy.example.com",
        "ntfys://ntfy.example.com/",
        "ntfys://ntfy.example.com/team?mode=cloud",
        "ntfys://ntfy.example.com/team?verify=no",
        "ntfys://ntfy.example.com#@evil.example/team",
        "ntfys://ntfy.example.com\\@evil.example/team",
        "ntfys://ntfy.example.com;x/team",
        "json://169.254.169.254/latest",
        "https://ntfy.sh/team",
        "tgram://",
        "nothing",
        "",
    ):
        with pytest.raises(InvalidInput) as refused:
            reads(url)
        assert HIDDEN not in str(refused.value)
    with pytest.raises(InvalidInput, match="takes the credential url"):
        reads("ntfy://127.0.0.1:8080/team", token="x")


@pytest.mark.parametrize("given", ["", "../admin", "a/b", "a?b=c", "a@b", "a b", "{address}", "a:b", "a" * 65, "é"])
def test_a_persons_part_of_an_address_changes_nothing_but_itself(given: str) -> None:
    kind = AppriseKind(ALLOWED)
    channel = Channel(
        "chan_1",
        "apprise",
        "x",
        Shows.HEADLINE,
        "low",
        reads("tgram://123456789:abcdefg_hijklmnop/{address}"),
        "root",
        AT,
    )
    assert kind.read_address(channel, " ann.lee-1 ") == "ann.lee-1"
    with pytest.raises(InvalidInput):
        kind.read_address(channel, given)


def test_what_an_operator_takes_away_is_not_used_any_more() -> None:
    channel = Channel("chan_1", "apprise", "x", Shows.HEADLINE, "low", {}, "root", AT)
    with pytest.raises(Unreachable):
        AppriseKind(("tgram://",)).open(channel, {"url": "ntfy://127.0.0.1:8080/team"})
    assert list(apprise_kinds(ALLOWED)) == ["apprise"]
    given = {
        "INTERLOCK_APPRISE_SERVICES": "NTFYS://ntfy.example.com, tgram://",
        "INTERLOCK_PUBLIC_URL": "https://i.example",
    }
    assert load({}, given).apprise_services == ("ntfys://ntfy.example.com", "tgram://")
    for wrong in ("ntfy.example.com", "ntfys://a@b", "ntfys://a/b", "://x"):
        with pytest.raises(InvalidInput):
            load({}, {**given, "INTERLOCK_APPRISE_SERVICES": wrong})
    with pytest.raises(InvalidInput, match="INTERLOCK_PUBLIC_URL"):
        load({}, {"INTERLOCK_APPRISE_SERVICES": "tgram://"})


@pytest.mark.promise("P28")
async def test_what_an_agent_wrote_is_no_mention_link_or_markup_and_nothing_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    rows = (Row("Tool", "<@everyone> [x](http://evil.example) **b** `c` evil.example #all"), Row("Risk", "low"))
    url = "https://i.example/requests/perm_1"
    message = Message("note_1", "perm_1", "Approval needed: @here", rows, text="rm -rf", url=url)
    with NtfyServer() as server:
        link = OpenApprise(f"ntfy://{server.place}/{{address}}")
        assert await link.send(HIDDEN, message) == "note_1"
        server.answers.append((500, {}))
        with pytest.raises(Refused) as refused:
            await link.send(HIDDEN, message)
        (sent,) = server.published
    assert server.wrong == []
    assert (sent["topic"], sent["title"]) == (HIDDEN, "Approval needed: ·here")
    assert sent["message"].split("\n")[-2:] == ["Risk: low", url]
    assert not set(sent["message"].split("\n")[0]) & set("<>@[]()*`#./")
    assert "rm -rf" not in sent["message"]
    assert HIDDEN not in caplog.text + str(refused.value)
    assert "everyone" not in caplog.text
    assert words(Message("n", "p", "Your code: ABCD2345")) == "Your code: ABCD2345"
    assert plain("批准：读取文件。") == "批准：读取文件。"
