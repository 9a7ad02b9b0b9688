"""Services that have no channel of their own, by the library Apprise: a headline and a link, out only.

Apprise posts by itself, past every list of hosts. So an operator names the beginnings of the addresses it may be given,
and it is given nothing that its services would read as an option.
"""

import asyncio
import logging
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

with warnings.catch_warnings():
    # Its services look for a module that Python gave up, and are read with the first address.
    warnings.simplefilter("ignore")
    from apprise import Apprise, AppriseAsset, NotifyFormat

    cast("Any", Apprise).instantiate("json://localhost")

from interlock.domain.channel import Abilities, Channel, Message, wrong
from interlock.domain.json_value import JsonObject
from interlock.domain.setting_field import SettingField
from interlock.ports.channels import CutOff, Refused, Unreachable

APPRISE = "apprise"
ABILITIES = Abilities(edits=False, taps=False, confirms=False, longest_text=0)
"""Never the call: what a service makes of marks in a text is not known here."""
ADDRESS = "{address}"
TIMEOUT_SECONDS = 30.0
_SAMPLE = "sample1"
_ADDRESS = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,63}\Z")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^?#;\\\s\x00-\x1f]{1,1000}\Z")
_MARKS = re.compile(r"[^\w\s,:;!?\-，。：；！？、]|\.(?=\w)")
"""Whatever might be a link, a mention or markup to some service; a dot inside a word makes a link of it."""

# It logs what it sends and the addresses, which hold tokens, and so does what it posts with.
for _name in ("apprise", "urllib3.connectionpool"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class AppriseKind:
    abilities = ABILITIES
    sends_codes = True
    fields = (SettingField("url", "secret", required=True),)

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = tuple(allowed)

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        unknown = sorted(given.keys()) or sorted(credentials.keys() - {"url"})
        if unknown:
            raise wrong(f"settings.{unknown[0]}", "unknown", f"apprise takes the credential url, and no {unknown[0]}")
        url = credentials.get("url", "").strip()
        if not _URL.match(url):
            raise wrong("credentials.url", "form", "url is an address of Apprise without ?, #, ; and \\")
        if not self._may_be_used(url):
            raise wrong("credentials.url", "service", "url begins with none of INTERLOCK_APPRISE_SERVICES")
        return {"service": urlsplit(url).scheme, "by_address": ADDRESS in url}

    def read_address(self, channel: Channel, text: str) -> str:
        if not channel.settings["by_address"]:
            # One place for all, such as a group: whoever links it has told there what they are asked.
            return cast("str", channel.settings["service"])
        if not _ADDRESS.match(text.strip()):
            raise wrong("address", "form", "an address is a name or a number of letters, digits, _, ., + and -")
        return text.strip()

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "OpenApprise":
        if not self._may_be_used(credentials.get("url", "").strip()):
            raise Unreachable("its url begins with none of INTERLOCK_APPRISE_SERVICES")
        return OpenApprise(credentials["url"].strip())

    def _may_be_used(self, url: str) -> bool:
        service = _service(url, _SAMPLE)
        return service is not None and any(_begins(url, service, one) for one in self._allowed)


@dataclass(frozen=True, slots=True)
class OpenApprise:
    url: str

    async def send(self, address: str, message: Message) -> str:
        service = _service(self.url, address)
        if service is None:
            raise Refused("Apprise does not know such an address")
        sender: Any = Apprise(asset=service.asset)
        sender.add(service)
        send = partial(sender.notify, body=words(message), title=plain(message.title), body_format=NotifyFormat.TEXT)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                # Its own timeouts are shorter: the thread ends too.
                is_sent = bool(await asyncio.to_thread(send))
        except TimeoutError as error:
            raise CutOff("no response in time") from error
        if not is_sent:
            # It does not say why: nothing is known of who is at fault, nor whether the address is gone.
            raise Refused(f"{service.schema} did not take it")
        return message.id

    async def update(self, address: str, ref: str, message: Message) -> None:
        raise NotImplementedError("what was sent is followed by another message")

    async def close(self) -> None:
        """Nothing is kept open."""


def words(message: Message) -> str:
    lines = [f"{plain(row.label)}: {plain(row.value)}" for row in message.rows]
    lines += [plain(note) for note in message.notes]
    if message.url is not None:
        lines.append(message.url)
    return "\n".join(lines) or plain(message.title)


def plain(text: str) -> str:
    return _MARKS.sub("·", text)


def _begins(url: str, service: Any, allowed: str) -> bool:
    """By what Apprise has read, not by the text: `a://good@evil` leads to the second."""
    ours, given = urlsplit(allowed), urlsplit(url)
    if given.scheme != ours.scheme:
        return False
    if not ours.netloc:
        return True
    # Without a path some services take the host for a topic of the makers' own server.
    host, port = cast("str", service.host), cast("int | None", service.port)
    is_there = f"{host}:{port}" if port else host
    return ADDRESS not in given.netloc and is_there.lower() == ours.netloc and bool(given.path.strip("/"))


def _service(url: str, address: str) -> Any:
    asset = AppriseAsset(async_mode=False, http_redirects=False, secure_logging=True)
    try:
        return cast("Any", Apprise).instantiate(url.replace(ADDRESS, address), asset=asset)
    except Exception:
        # A plugin of which a part is missing.
        return None
