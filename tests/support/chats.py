"""One way to drive every channel in tests: what a person sees there, and does there."""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.channels.apprise import AppriseKind
from interlock.channels.feishu import FeishuKind
from interlock.channels.mail import MailKind
from interlock.channels.slack import SlackKind
from interlock.channels.web_push import WebPushKind
from interlock.domain.subscription import PushHosts, Subscription
from interlock.outbound import HttpPoster
from interlock.ports.channels import ChannelKind
from interlock.ports.clock import Clock
from interlock.services.channels.callbacks import take_callback
from interlock.services.core import Core
from tests.support import feishu_server, slack_server
from tests.support.feishu_server import FeishuServer
from tests.support.mail_server import OK, MailServer, text_of
from tests.support.ntfy_server import NtfyServer
from tests.support.push_service import HOST, Browser, PushService
from tests.support.slack_server import Refusal, SlackServer

SECONDS = 60.0
CHANNEL = "chan_1"


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not look():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


class Driver(ABC):
    """A channel with its vendor. People are named as the vendor names them."""

    name: str
    settings: dict[str, Any]
    credentials: dict[str, str]
    clock: Clock
    """The one that the test moves."""

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    async def stop(self) -> None: ...

    @abstractmethod
    def kind(self) -> ChannelKind: ...

    @abstractmethod
    def account(self, person: str) -> str:
        """Under which this person is linked."""

    @abstractmethod
    def words(self, person: str) -> list[str]:
        """What this person was sent, each as it stands now."""

    @abstractmethod
    def fail(self, times: int) -> None:
        """The vendor cannot be spoken to, so many times."""

    @abstractmethod
    def tries(self) -> int:
        """How often it was tried to send something."""

    @abstractmethod
    def forget(self) -> None:
        """The vendor does not know the next address any more."""

    @property
    def wrong(self) -> Sequence[str]:
        return ()


class Chat(Driver):
    """One that answers come back over."""

    told: list[str]
    """What was said to who tapped."""

    @property
    @abstractmethod
    def is_listening(self) -> bool: ...

    @abstractmethod
    def labels(self, person: str, number: int = -1) -> list[str]:
        """Of the buttons of a message as it stands now, without the link."""

    @abstractmethod
    def draw_tap(self, person: str, label: str, number: int = -1, *, by: str | None = None) -> Any:
        """What the vendor sends when the button is tapped, and all it asks is confirmed; `by` is somebody else."""

    @abstractmethod
    def draw_words(self, person: str, text: str) -> Any:
        """What it sends when the person writes to the bot."""

    @abstractmethod
    async def arrive(self, core: Core, drawn: Any) -> None:
        """Let it come, and wait until it was taken."""

    @abstractmethod
    def replies(self) -> list[str]:
        """What was replied to who wrote."""

    @abstractmethod
    def count_connections(self) -> int: ...

    async def tap(self, core: Core, person: str, label: str, number: int = -1, *, by: str | None = None) -> Any:
        drawn = self.draw_tap(person, label, number, by=by)
        await self.arrive(core, drawn)
        return drawn


@dataclass
class Mail(Driver):
    server: MailServer = field(default_factory=MailServer)
    name = "mail"
    credentials: dict[str, str] = field(default_factory=dict[str, str])

    def start(self) -> None:
        self.server.start()
        given = {"host": "127.0.0.1", "port": self.server.port, "security": "none", "sender": "i@x.example"}
        self.settings = dict(self.kind().read_settings(given, {}))

    async def stop(self) -> None:
        self.server.stop()

    def kind(self) -> ChannelKind:
        return MailKind(["127.0.0.1"], "interlock.example")

    def account(self, person: str) -> str:
        return f"{person}@x.example"

    def words(self, person: str) -> list[str]:
        return [text_of(one) for one in self.server.mails if one["To"] == self.account(person)]

    def fail(self, times: int) -> None:
        tried = self.server.seen.count("rcpt")
        self.server.to_recipients = [*[OK] * tried, *["421 4.3.2 closing"] * times, OK]

    def tries(self) -> int:
        return self.server.seen.count("rcpt")

    def forget(self) -> None:
        tried = self.server.seen.count("rcpt")
        self.server.to_recipients = [*[OK] * tried, "550 5.1.1 no such user", OK]


@dataclass
class Ntfy(Driver):
    """Through Apprise, which does not say why something was not taken."""

    server: NtfyServer = field(default_factory=NtfyServer)
    name = "apprise"

    def start(self) -> None:
        self.server.__enter__()
        self.credentials = {"url": f"ntfy://{self.server.place}/{{address}}"}
        self.settings = dict(self.kind().read_settings({}, self.credentials))

    async def stop(self) -> None:
        self.server.__exit__()

    def kind(self) -> ChannelKind:
        return AppriseKind([f"ntfy://{self.server.place}"])

    def account(self, person: str) -> str:
        return f"{person}-topic"

    def words(self, person: str) -> list[str]:
        own = [one for one in self.server.published if one["topic"] == self.account(person)]
        return [f"{one['title']}\n{one['message']}" for one in own]

    def fail(self, times: int) -> None:
        # It says of no failure whether it was that of all: each message is tried by itself.
        elsewhere, later = {"location": "http://127.0.0.1:1/"}, {"retry-after": "1"}
        down: list[tuple[int, dict[str, str]]] = [(503, {}), (429, later), (302, elsewhere), (401, {})]
        self.server.answers += [down[number % len(down)] for number in range(2 * times)]

    def tries(self) -> int:
        return self.server.tries

    def forget(self) -> None:
        raise NotImplementedError("it does not say so")

    @property
    def wrong(self) -> Sequence[str]:
        return self.server.wrong


@dataclass
class Browsers(Driver):
    folder: Path
    server: PushService = field(init=False)
    name = "web-push"

    def __post_init__(self) -> None:
        self.server = PushService(self.folder)
        self._people: dict[str, Browser] = {}
        self._posters: list[HttpPoster] = []

    def start(self) -> None:
        self.server.__enter__()
        self._before = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = self.server.environment["SSL_CERT_FILE"]
        kind = self.kind()
        assert isinstance(kind, WebPushKind)
        self.credentials = kind.make_credentials()
        self.settings = dict(kind.read_settings({}, self.credentials))

    async def stop(self) -> None:
        for poster in self._posters:
            await poster.close()
        self.server.__exit__()
        del os.environ["SSL_CERT_FILE"]
        if self._before is not None:
            os.environ["SSL_CERT_FILE"] = self._before

    def kind(self) -> ChannelKind:
        hosts = PushHosts((HOST,))
        poster = HttpPoster([HOST], named_in="INTERLOCK_PUSH_HOSTS", private_hosts=hosts.own, timeout_seconds=SECONDS)
        self._posters.append(poster)
        return WebPushKind(hosts, poster, "https://interlock.example", self.clock)

    def _browser(self, person: str) -> Browser:
        if person not in self._people:
            self._people[person] = self.server.browser()
        return self._people[person]

    def account(self, person: str) -> str:
        return Subscription.read(json.dumps(self._browser(person).subscription)).text

    def words(self, person: str) -> list[str]:
        browser = self._browser(person)
        taken = [one for one in self.server.to(browser) if one.status == 201]
        shown = [json.loads(browser.opens(one.body)) for one in taken]
        return [f"{one['title']}\n{one['body']}" for one in shown]

    def fail(self, times: int) -> None:
        # Both people are tried beside each other.
        self.server.failures += [(503, 429)[number % 2] for number in range(2 * times)]

    def tries(self) -> int:
        return len(self.server.pushes)

    def forget(self) -> None:
        self.server.failures.append(410)


@dataclass
class Slack(Chat):
    mode: str = "socket"
    server: SlackServer = field(default_factory=SlackServer)

    def __post_init__(self) -> None:
        self.name = f"slack-{self.mode}"
        second = {"app_token": slack_server.APP_TOKEN}
        if self.mode == "http":
            second = {"signing_secret": slack_server.SIGNING_SECRET}
        self.credentials = {"bot_token": slack_server.BOT_TOKEN, **second}
        self._callers: list[HttpPoster] = []

    def start(self) -> None:
        self.server.__enter__()
        given = {"team": slack_server.TEAM, "app": slack_server.APP, "mode": self.mode, "api": self.server.api}
        self.settings = dict(self.kind().read_settings(given, self.credentials))

    async def stop(self) -> None:
        for caller in self._callers:
            await caller.close()
        self.server.__exit__()

    def kind(self) -> ChannelKind:
        caller = _patient_poster()
        self._callers.append(caller)
        return SlackKind(["127.0.0.1"], caller)

    def account(self, person: str) -> str:
        return f"{slack_server.TEAM}:{_member(person)}"

    def words(self, person: str) -> list[str]:
        return [one.words for one in self.server.of(_member(person))]

    def fail(self, times: int) -> None:
        down = [Refusal("chat.postMessage", 503), Refusal("chat.postMessage", 429, "ratelimited", {"Retry-After": "1"})]
        down += [Refusal("chat.postMessage", error=error) for error in ("token_expired", "account_inactive")]
        self.server.refusals += [down[number % len(down)] for number in range(times)]

    def tries(self) -> int:
        return self.server.calls.count("chat.postMessage")

    def forget(self) -> None:
        self.server.refusals.append(Refusal("chat.postMessage", error="user_disabled"))

    @property
    def wrong(self) -> Sequence[str]:
        return self.server.wrong

    @property
    def told(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.server.told

    @property
    def is_listening(self) -> bool:
        return self.mode == "socket"

    def labels(self, person: str, number: int = -1) -> list[str]:
        buttons = self.server.of(_member(person))[number].buttons
        return [label for label, one in buttons.items() if "value" in one]

    def draw_tap(self, person: str, label: str, number: int = -1, *, by: str | None = None) -> Any:
        return self.server.tap(_member(by or person), self.server.of(_member(person))[number], label)

    def draw_words(self, person: str, text: str) -> Any:
        return self.server.direct_message(_member(person), text)

    async def arrive(self, core: Core, drawn: Any) -> None:
        if self.mode == "http":
            headers, body = slack_server.signed(drawn, core.clock.now().timestamp())
            reply = await take_callback(core, CHANNEL, headers, body)
            assert reply.body == b""
            if reply.afterwards:
                await reply.afterwards()
            return
        await until(lambda: len(self.server.sockets) > 0)
        envelope_id = self.server.push(drawn)
        await until(lambda: envelope_id in self.server.acknowledged)

    def replies(self) -> list[str]:
        return [one.words for one in self.server.shown if one.user.startswith("D")]

    def count_connections(self) -> int:
        return len(self.server.sockets)


@dataclass
class Feishu(Chat):
    mode: str = "socket"
    server: FeishuServer = field(default_factory=FeishuServer)

    def __post_init__(self) -> None:
        self.name = f"feishu-{self.mode}"
        self.credentials = {"app_secret": feishu_server.SECRET}
        if self.mode == "http":
            self.credentials |= {"encrypt_key": feishu_server.ENCRYPT_KEY}
            self.credentials |= {"verification_token": feishu_server.VERIFICATION}
        self._callers: list[HttpPoster] = []
        self._told: list[str] = []

    def start(self) -> None:
        self.server.__enter__()
        given = {"app": feishu_server.APP, "mode": self.mode, "api": self.server.api}
        self.settings = dict(self.kind().read_settings(given, self.credentials))

    async def stop(self) -> None:
        for caller in self._callers:
            await caller.close()
        self.server.__exit__()

    def kind(self) -> ChannelKind:
        caller = _patient_poster()
        self._callers.append(caller)
        return FeishuKind(["127.0.0.1"], caller)

    def account(self, person: str) -> str:
        return f"{feishu_server.TENANT}:ou_{person}"

    def words(self, person: str) -> list[str]:
        return [one.words for one in self.server.of(f"ou_{person}")]

    def fail(self, times: int) -> None:
        # A wrong secret, too many, no server, an app that is not published.
        down = [feishu_server.Refusal("messages", 503), feishu_server.Refusal("messages", 429, 99991400)]
        down += [feishu_server.Refusal("messages", code=99991672), feishu_server.Refusal("messages", code=230020)]
        self.server.refusals += [down[number % len(down)] for number in range(times)]

    def tries(self) -> int:
        return self.server.calls.count("messages")

    def forget(self) -> None:
        self.server.refusals.append(feishu_server.Refusal("messages", code=230013))

    @property
    def wrong(self) -> Sequence[str]:
        return self.server.wrong

    @property
    def told(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._told

    @property
    def is_listening(self) -> bool:
        return self.mode == "socket"

    def labels(self, person: str, number: int = -1) -> list[str]:
        buttons = self.server.of(f"ou_{person}")[number].buttons
        return [label for label, one in buttons.items() if one["behaviors"][0]["type"] == "callback"]

    def draw_tap(self, person: str, label: str, number: int = -1, *, by: str | None = None) -> Any:
        return self.server.tap(f"ou_{by or person}", self.server.of(f"ou_{person}")[number], label)

    def draw_words(self, person: str, text: str) -> Any:
        return self.server.direct_message(f"ou_{person}", text)

    async def arrive(self, core: Core, drawn: Any) -> None:
        if self.mode == "http":
            headers, body = feishu_server.sealed(drawn, core.clock.now().timestamp())
            answered = await take_callback(core, CHANNEL, headers, body)
            reply = json.loads(answered.body)
            feishu_server.check_reply(self.server, reply)
            if answered.afterwards:
                await answered.afterwards()
        else:
            await until(lambda: len(self.server.sockets) > 0)
            message_id = self.server.push(drawn, parts=2)
            await until(lambda: message_id in self.server.replies)
            reply = self.server.replies[message_id]
        if "toast" in reply:
            self._told.append(reply["toast"]["content"])

    def replies(self) -> list[str]:
        return [text for _, text in self.server.said]

    def count_connections(self) -> int:
        return len(self.server.sockets)


def _patient_poster() -> HttpPoster:
    """On a busy machine a reply takes its time, and the clocks of tests stand still: nothing would be tried again."""
    return HttpPoster(["127.0.0.1"], allow_private=True, named_in="INTERLOCK_CHANNEL_HOSTS", timeout_seconds=SECONDS)


def _member(person: str) -> str:
    return f"U{person.upper()}"
