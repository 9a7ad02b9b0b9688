"""Web Push: the example of RFC 8291, and a push service on loopback that opens what it is sent with code of its own."""

import json
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from interlock.channels.push_encryption import LONGEST_TEXT, encrypt
from interlock.channels.web_push import DOWN_FOR, WebPushKind, compose
from interlock.config import load
from interlock.domain.channel import Channel, Message, Row, Shows
from interlock.domain.errors import Conflict, InvalidInput
from interlock.domain.subscription import BROWSERS, PushHosts
from interlock.outbound import HttpPoster
from interlock.ports.channels import AddressGone, CutOff, OutOfReach, Refused
from interlock.ports.store import Store
from interlock.services.channels import addresses, channels
from interlock.services.core import Core
from tests.conformance.examples import a_user
from tests.conformance.test_channels import ANN, ROOT, Hand, ask, core_with
from tests.conformance.test_notice_sender import answer, sending, until
from tests.support.push_service import CURVE, Browser, PushService, unspelled

AT = datetime(2026, 11, 19, 12, tzinfo=UTC)
PUBLIC = "https://interlock.example"
MESSAGE = Message("note_1", "perm_1", "Approval needed", (Row("Tool", "x"),), url=f"{PUBLIC}/requests/perm_1")
OTHERS = ("gone.example",)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[PushService]:
    with PushService(tmp_path_factory.mktemp("push")) as listening:
        yield listening


@pytest.fixture
def clock() -> Hand:
    return Hand(AT)


@pytest.fixture
async def kind(service: PushService, clock: Hand, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[WebPushKind]:
    monkeypatch.setenv("SSL_CERT_FILE", service.environment["SSL_CERT_FILE"])
    hosts = PushHosts(("localhost", *OTHERS))
    poster = HttpPoster(["localhost", *OTHERS], private_hosts=hosts.own, resolve=lambda _host, _port: ["127.0.0.1"])
    yield WebPushKind(hosts, poster, PUBLIC, clock)
    await poster.close()


def a_channel(kind: WebPushKind) -> tuple[Channel, dict[str, str]]:
    credentials = kind.make_credentials()
    settings = kind.read_settings({}, credentials)
    return Channel("chan_1", "web-push", "Browsers", Shows.HEADLINE, "low", settings, "root", AT), credentials


def text_of(browser: Browser) -> str:
    return json_text(browser.subscription)


def json_text(value: Any) -> str:
    return json.dumps(value)


def test_the_example_of_rfc_8291_comes_out_to_the_byte() -> None:
    private = int.from_bytes(unspelled("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")
    receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    made = encrypt(
        b"When I grow up, I want to be a watermelon",
        unspelled(receiver),
        unspelled("BTBZMqHH6r4Tts7J_aSIgg"),
        sender=ec.derive_private_key(private, CURVE),
        salt=unspelled("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert made == unspelled(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3"
        "jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


async def test_a_push_is_signed_for_its_service_and_only_its_browser_can_open_it(
    kind: WebPushKind, service: PushService
) -> None:
    channel, credentials = a_channel(kind)
    browser, link = service.browser(), kind.open(channel, credentials)
    await link.send(text_of(browser), replace(MESSAGE, until=AT + timedelta(minutes=5)))
    await link.send(text_of(browser), replace(MESSAGE, title="Approved", is_end=True))
    (shown, ended), (asked, end) = service.waits(browser, lambda seen: len(seen) == 2), service.to(browser)
    assert shown == {
        "title": "Approval needed",
        "body": "Tool: x",
        "tag": "perm_1",
        "end": False,
        "url": f"{PUBLIC}/requests/perm_1",
    }
    assert (ended["tag"], ended["end"]) == ("perm_1", True)
    key, claims = asked.signed(service.origin)
    assert (key, claims["sub"]) == (channel.settings["key"], PUBLIC)
    assert AT < datetime.fromtimestamp(claims["exp"], UTC) <= AT + timedelta(hours=24)
    assert [one.headers["urgency"] for one in (asked, end)] == ["high", "normal"]
    assert [one.headers["ttl"] for one in (asked, end)] == ["300", str(7 * 24 * 3600)]
    # What was not fetched of a request is replaced by its end; its id is told to nobody.
    assert asked.headers["topic"] == end.headers["topic"]
    assert (len(asked.headers["topic"]), "perm" in asked.headers["topic"]) == (32, False)
    assert asked.body[:86] != end.body[:86]
    with pytest.raises(InvalidTag):
        service.browser().opens(asked.body)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, AddressGone),
        (410, AddressGone),
        (400, Refused),
        (403, Refused),
        (413, Refused),
        (301, Refused),
        (429, OutOfReach),
        (503, OutOfReach),
        (500, CutOff),
        (0, CutOff),
    ],
)
async def test_what_a_service_says_no_to(
    kind: WebPushKind, service: PushService, status: int, error: type[Exception]
) -> None:
    browser = service.browser()
    service.answers[browser.endpoint.removeprefix(service.origin)] = status
    with pytest.raises(error) as raised:
        await kind.open(*a_channel(kind)).send(text_of(browser), MESSAGE)
    assert type(raised.value) is error
    assert browser.endpoint not in str(raised.value)


async def test_a_service_that_is_not_reached_is_left_alone_for_a_while_and_others_are_not(
    kind: WebPushKind, service: PushService, clock: Hand
) -> None:
    link, browser = kind.open(*a_channel(kind)), service.browser()
    path = browser.endpoint.removeprefix(service.origin)
    # Nobody listens there.
    lost = Browser("https://gone.example:9/push")
    with pytest.raises(OutOfReach, match="ConnectError"):
        await link.send(text_of(lost), MESSAGE)
    with pytest.raises(OutOfReach, match="a moment ago"):
        await link.send(text_of(lost), MESSAGE)
    # Whoever names another port of a host that is there keeps nobody else of it waiting.
    with pytest.raises(OutOfReach, match="ConnectError"):
        await link.send(text_of(Browser("https://localhost:9/push")), MESSAGE)
    await link.send(text_of(browser), MESSAGE)
    service.answers[path] = 503
    with pytest.raises(OutOfReach):
        await link.send(text_of(browser), MESSAGE)
    del service.answers[path]
    with pytest.raises(OutOfReach, match="a moment ago"):
        await link.send(text_of(browser), MESSAGE)
    clock.at += DOWN_FOR
    await link.send(text_of(browser), MESSAGE)
    assert len(service.to(browser)) == 3


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://evil.example/push",
        "http://localhost/push",
        "https://user@localhost/push",
        "https://localhost.evil.example/push",
        "https://evil.example\\@localhost/push",
        "https://evil.example#@localhost/",
        "https://push.apple.com.evil.example/x",
        "https://push.apple.com/x",
        "https://web.push.apple.com:8443/x",
        "https://fcm.googleapis.com:22/x",
        "https://fcm.googleapis.com:99999/x",
        "https://localhost:99999/x",
        "https://localhost:0/x",
        "https://fcm.googleapis.com./x",
        "https://[::1]/x",
        "https://localhost/" + "x" * 1_000,
        "https://localhost/\u202e",
        "",
    ],
)
def test_only_known_hosts_are_ever_posted_to(clock: Hand, endpoint: str) -> None:
    kind = WebPushKind(PushHosts(("localhost", *BROWSERS)), HttpPoster([]), PUBLIC, clock)
    channel, _ = a_channel(kind)
    for known in ("https://localhost:4430/x", "https://web.push.apple.com/x", "https://fcm.googleapis.com/fcm/send/x"):
        assert known in kind.read_address(channel, text_of(Browser(known)))
    with pytest.raises(InvalidInput):
        kind.read_address(channel, text_of(Browser(endpoint)))


@pytest.mark.parametrize("keys", [{}, {"p256dh": "AAAA", "auth": "AAAA"}, {"p256dh": "%", "auth": 5}, None, "x"])
def test_keys_that_are_none_are_refused(clock: Hand, keys: Any) -> None:
    kind = WebPushKind(PushHosts(("localhost",)), HttpPoster([]), PUBLIC, clock)
    channel, _ = a_channel(kind)
    of_another_curve = {**Browser("").subscription["keys"], "p256dh": "BA" + "A" * 85}
    for one in (keys, of_another_curve):
        with pytest.raises(InvalidInput):
            kind.read_address(channel, json_text({"endpoint": "https://localhost/x", "keys": one}))


async def test_a_known_host_at_a_private_address_is_not_posted_to(clock: Hand) -> None:
    poster = HttpPoster(BROWSERS, resolve=lambda _host, _port: ["10.0.0.1"])
    kind = WebPushKind(PushHosts(BROWSERS), poster, PUBLIC, clock)
    with pytest.raises(OutOfReach, match="private"):
        await kind.open(*a_channel(kind)).send(text_of(Browser("https://fcm.googleapis.com/x")), MESSAGE)
    await poster.close()


def test_settings_that_cannot_be_are_refused(kind: WebPushKind) -> None:
    credentials = kind.make_credentials()
    assert kind.read_settings({"contact": "mailto:ops@x.example"}, credentials)["contact"] == "mailto:ops@x.example"
    for given in ({"contact": "ops@x.example"}, {"key": "x"}):
        with pytest.raises(InvalidInput):
            kind.read_settings(given, credentials)


def test_what_is_too_long_for_one_push_loses_the_call_first_and_then_rows() -> None:
    rows = tuple(Row("项目", "\U0001f600" * 80) for _ in range(8))
    whole = compose(replace(MESSAGE, text="short"))
    without = compose(replace(MESSAGE, text="长" * 2_000, notes=("open it",)))
    cut = compose(replace(MESSAGE, rows=rows * 3, text="长" * 600))
    assert b"short" in whole
    assert "长".encode() not in without
    assert b"open it" in without
    assert all(len(one) <= LONGEST_TEXT for one in (whole, without, cut))
    assert "项目".encode() in cut


def test_the_word_browsers_stands_for_the_services_of_their_makers() -> None:
    def hosts(text: str, **more: str) -> tuple[str, ...]:
        return load({}, {"INTERLOCK_PUSH_HOSTS": text, "INTERLOCK_PUBLIC_URL": PUBLIC, **more}).push_hosts

    assert hosts("browsers") == BROWSERS
    assert hosts("push.example, browsers") == (*BROWSERS, "push.example")
    with pytest.raises(InvalidInput):
        hosts("https://push.example")
    with pytest.raises(InvalidInput, match="INTERLOCK_PUBLIC_URL"):
        load({}, {"INTERLOCK_PUSH_HOSTS": "browsers"})


async def a_core(store: Store, kind: WebPushKind) -> tuple[Core, Channel]:
    core = replace(core_with(store, None), channel_kinds={"web-push": kind})
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-root", "root"))
    return core, await channels.create(core, ROOT, "web-push", {}, {})


@pytest.mark.promise("P27", "P28")
async def test_all_browsers_of_a_person_are_told_and_one_that_is_gone_is_switched_off(
    store: Store, kind: WebPushKind, service: PushService
) -> None:
    core, channel = await a_core(store, kind)
    laptop, phone, old = (service.browser() for _ in range(3))
    for browser in (laptop, phone, old):
        await addresses.link_browser(core, ANN, channel.id, text_of(browser))
    service.answers[old.endpoint.removeprefix(service.origin)] = 410
    async with sending(core):
        request = await ask(core)
        await until(core, request, lambda seen: sorted(one.status for one in seen) == ["gone", "sent", "sent"])
        await answer(core, request)
        await until(core, request, lambda seen: sorted(one.status for one in seen) == ["edited", "edited", "gone"])
    for browser in (laptop, phone):
        asked, ended = service.waits(browser, lambda seen: len(seen) == 2)
        assert ("read_file" in asked["body"], ended["title"], ended["tag"]) == (True, "Approved", asked["tag"])
        assert "secret.txt" not in str([asked, ended])
    (reached,) = await addresses.list_reached(core, ANN)
    assert sorted(one.off_at is None for one in reached.addresses) == [False, True, True]
    # In its place, when that browser is turned on again.
    await addresses.link_browser(core, ANN, channel.id, text_of(service.browser()))
    (reached,) = await addresses.list_reached(core, ANN)
    assert [one.off_at for one in reached.addresses] == [None, None, None]


async def test_a_browser_is_of_who_turned_it_on_last_and_of_nobody_without_its_keys(
    store: Store, kind: WebPushKind, service: PushService
) -> None:
    core, channel = await a_core(store, kind)
    browser = service.browser()
    first = await addresses.link_browser(core, ANN, channel.id, text_of(browser))
    assert await addresses.link_browser(core, ANN, channel.id, text_of(browser)) == first
    # Who knows where it is pushed to, and not its keys, takes nothing from anybody.
    await addresses.link_browser(core, ROOT, channel.id, text_of(replace(browser, auth=b"another secret..")))
    assert (await addresses.list_reached(core, ANN))[0].addresses == [first]
    taken = await addresses.link_browser(core, ROOT, channel.id, text_of(browser))
    assert (await addresses.list_reached(core, ANN))[0].addresses == []
    await addresses.send_own_test(core, ROOT, taken.id)
    await channels.send_test(core, ROOT, channel.id, "root")
    with pytest.raises(InvalidInput):
        await channels.send_test(core, ROOT, channel.id, "ann")
    with pytest.raises(InvalidInput):
        await addresses.begin_link(core, ANN, channel.id, "ann@x.example")
    with pytest.raises(Conflict):
        await channels.create(core, ROOT, "web-push", {}, {})
    for _ in range(addresses.MOST_BROWSERS - 2):
        await addresses.link_browser(core, ROOT, channel.id, text_of(service.browser()))
    with pytest.raises(Conflict):
        await addresses.link_browser(core, ROOT, channel.id, text_of(service.browser()))


async def test_credentials_are_made_and_never_given(store: Store, kind: WebPushKind) -> None:
    core = replace(core_with(store, None), channel_kinds={"web-push": kind})
    with pytest.raises(InvalidInput):
        await channels.create(core, ROOT, "web-push", {}, {"private_key": "x"})
    made = await channels.create(core, ROOT, "web-push", {}, {})
    async with store.snapshot() as tx:
        assert "PRIVATE KEY" in (await tx.channels.credentials(made.id))["private_key"]
    assert "PRIVATE" not in str(made)
