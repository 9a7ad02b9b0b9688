"""E-mail, with a real mail server on loopback."""

import asyncio
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.channels.mail import ABILITIES, MailKind, compose, page, plain_words
from interlock.domain.channel import Channel, Message, NoticeStatus, Row, Shows
from interlock.domain.errors import InvalidInput
from interlock.domain.kinds import ApprovalBody
from interlock.domain.request import Request, RequestStatus
from interlock.ports.channels import AddressGone, CutOff, Refused, Unreachable
from interlock.ports.store import Store
from interlock.services.channels import channels
from interlock.services.channels.wording import asked
from interlock.services.core import Core
from tests.conformance.examples import a_user
from tests.conformance.test_channels import ROOT, a_notice, an_address, ask, core_with
from tests.conformance.test_notice_sender import all_are, answer, sending, until, until_in_time
from tests.support.certificate import context_for
from tests.support.mail_server import PASSWORD, USER, MailServer, text_of

AT = datetime(2026, 11, 19, 12, tzinfo=UTC)
KIND = MailKind(["localhost", "127.0.0.1"], "interlock.example")
GIVEN = {"host": "127.0.0.1", "port": 25, "security": "none", "sender": "interlock@x.example"}
MESSAGE = Message("note_1", "perm_1", "Approval needed", (Row("Tool", "x"),), url="https://i.example/requests/perm_1")


@pytest.fixture
def server() -> Generator[MailServer]:
    with MailServer() as listening:
        yield listening


def a_channel(server: MailServer, **changes: Any) -> Channel:
    settings = KIND.read_settings({**GIVEN, "port": server.port, **changes}, {})
    return Channel("chan_1", "mail", "Mail", Shows.HEADLINE, "low", settings, "root", AT)


async def send(server: MailServer, message: Message = MESSAGE) -> str:
    return await KIND.open(a_channel(server), {}).send("ann@x.example", message)


async def test_a_mail_is_of_its_request_answers_itself_to_nobody_and_is_in_two_forms(server: MailServer) -> None:
    assert await send(server) == "<note_1@interlock.example>"
    (mail,) = server.mails
    headers = ("Message-ID", "References", "Auto-Submitted", "X-Auto-Response-Suppress", "To", "From")
    assert [mail[name] for name in headers] == [
        "<note_1@interlock.example>",
        "<perm_1@interlock.example>",
        "auto-generated",
        "All",
        "ann@x.example",
        "Interlock <interlock@x.example>",
    ]
    assert mail.get_content_type() == "multipart/alternative"
    for subtype in ("plain", "html"):
        assert "https://i.example/requests/perm_1" in text_of(mail, subtype)


async def test_it_is_sent_over_tls_to_a_server_that_proves_itself_and_with_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MailServer(tls=context_for("localhost", tmp_path), with_password=True) as server:
        given = {**GIVEN, "host": "localhost", "port": server.port, "security": "starttls", "username": USER}

        async def attempt(password: str) -> str:
            credentials = {"password": password}
            settings = KIND.read_settings(given, credentials)
            return await KIND.open(replace(a_channel(server), settings=settings), credentials).send(
                "a@x.example", MESSAGE
            )

        with pytest.raises(Unreachable):
            await attempt(PASSWORD)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        with pytest.raises(Unreachable):
            await attempt("wrong")
        await attempt(PASSWORD)
    assert len(server.mails) == 1


async def test_a_server_that_offers_no_tls_gets_nothing_where_tls_is_wanted(server: MailServer) -> None:
    channel = a_channel(server, security="starttls")
    with pytest.raises(Unreachable):
        await KIND.open(channel, {}).send("ann@x.example", MESSAGE)
    assert server.seen == []


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({"to_recipients": ["550 5.1.1 no such user ann@x.example"]}, AddressGone),
        ({"to_recipients": ["551 moved"]}, AddressGone),
        ({"to_recipients": ["550 5.7.1 relaying denied"]}, Refused),
        ({"to_recipients": ["450 4.2.1 try later"]}, Refused),
        ({"to_recipients": ["421 4.3.2 closing"]}, Unreachable),
        ({"to_data": ["552 5.3.4 too big"]}, Refused),
    ],
)
async def test_what_a_server_says_no_to(answers: dict[str, list[str]], error: type[Exception]) -> None:
    with MailServer() as server:
        server.to_recipients = answers.get("to_recipients", server.to_recipients)
        server.to_data = answers.get("to_data", server.to_data)
        with pytest.raises(error) as raised:
            await send(server)
    assert type(raised.value) is error
    assert "ann" not in str(raised.value)


async def test_a_server_that_is_not_there_is_down(server: MailServer) -> None:
    server.stop()
    with pytest.raises(Unreachable):
        await send(server)


async def test_a_server_that_goes_with_the_mail_in_hand_leaves_open_what_came_of_it() -> None:
    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        for reply in (b"250 x\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go on\r\n"):
            await reader.readline()
            writer.write(reply)
        await reader.readuntil(b"\r\n.\r\n")
        writer.close()

    dying = await asyncio.start_server(answer_once, "127.0.0.1", 0)
    async with dying:
        with pytest.raises(CutOff):
            await send(MailServer(port=dying.sockets[0].getsockname()[1]))


def core_and_channel(store: Store) -> Core:
    core = core_with(store, None)
    return replace(core, channel_kinds={"mail": KIND})


@pytest.mark.promise("P27")
async def test_a_notice_is_mailed_once_the_server_takes_it_and_followed_by_its_end(
    store: Store, server: MailServer
) -> None:
    core = core_and_channel(store)
    server.to_recipients = ("450 4.2.1 try later", "250 OK")
    port = server.port
    server.stop()
    made = await channels.create(core, ROOT, "mail", {**GIVEN, "port": port}, {})
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.addresses.link(an_address(channel_id=made.id, external_id="ann@x.example"))
    async with sending(core):
        request = await ask(core)
        server.start()
        await until_in_time(core, request, all_are(NoticeStatus.SENT))
        await answer(core, request)
        await until(core, request, all_are(NoticeStatus.EDITED))
    assert server.seen[:2] == ["rcpt", "rcpt"]
    first, *_, second = server.mails
    assert first["References"] == second["References"] == f"<{request.id}@interlock.example>"
    assert first["Message-ID"] != second["Message-ID"]
    assert f"https://interlock.example/requests/{request.id}" in text_of(first)
    assert "secret.txt" not in first.as_string() + second.as_string()


def test_nothing_an_agent_wrote_becomes_markup_a_header_or_a_link() -> None:
    evil = '<b onmouseover="x">\r\nBcc: eve@x.example\nhttps://evil.example'
    body = ApprovalBody.ask(evil, {"a": evil}, risk_level="low")
    request = Request("perm_1", "p", "t", RequestStatus.PENDING, 0, body, AT, agent=evil)
    channel = Channel("chan_1", "mail", "Mail", Shows.FULL, "low", {}, "root", AT)
    message = asked(a_notice(), request, channel, ABILITIES, "https://i.example/requests/perm_1", "en")
    mail = compose(message, "interlock@x.example", "ann@x.example", "i.example")
    assert mail["Bcc"] is None
    html = page(message)
    assert "<b onmouseover" not in html
    assert html.count("https://") == 1
    assert message.text is not None
    assert "https://evil.example" not in plain_words(replace(message, text=None))


@pytest.mark.parametrize(
    ("changes", "credentials", "field"),
    [
        ({"host": "other.example"}, {}, "settings.host"),
        ({"host": ""}, {}, "settings.host"),
        ({"security": "maybe"}, {}, "settings.security"),
        ({"port": 0}, {}, "settings.port"),
        ({"port": "25"}, {}, "settings.port"),
        ({"sender": "nobody"}, {}, "settings.sender"),
        ({"sender": "a@x.example\r\nBcc: b@x.example"}, {}, "settings.sender"),
        ({"username": "u"}, {}, "credentials.password"),
        ({}, {"password": "p"}, "credentials.password"),
        ({"domains": "x.example"}, {}, "settings.domains"),
        ({"colour": "red"}, {}, "settings.colour"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], credentials: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        KIND.read_settings({**GIVEN, **changes}, credentials)
    assert [one.field for one in raised.value.errors] == [field]


def test_a_password_goes_over_tls_only_unless_it_stays_on_this_machine() -> None:
    given = {**GIVEN, "username": "u"}
    assert KIND.read_settings(given, {"password": "p"})["host"] == "127.0.0.1"
    with pytest.raises(InvalidInput):
        MailKind(["relay.example"], "i").read_settings({**given, "host": "relay.example"}, {"password": "p"})


@pytest.mark.parametrize("address", ["", "ann", "ann@x", "a b@x.example", "a@x.example,b@x.example", "<a@x.example>"])
def test_what_is_no_address_is_refused(server: MailServer, address: str) -> None:
    channel = a_channel(server, domains=["x.example"])
    assert KIND.read_address(channel, " Ann@X.example ") == "Ann@x.example"
    for one in (address, "ann@other.example"):
        with pytest.raises(InvalidInput):
            KIND.read_address(channel, one)


def test_a_host_that_is_not_named_any_more_is_not_spoken_to(server: MailServer) -> None:
    with pytest.raises(Unreachable):
        MailKind(["other.example"], "i").open(a_channel(server), {})
