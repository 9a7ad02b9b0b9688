"""E-mail, by SMTP, out only: what comes back is decided on the page that a mail leads to.

A mail server is named by the operator and proves itself by its certificate, so its address may be a private one.
"""

import asyncio
import html
import ipaddress
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import formatdate
from typing import cast

import aiosmtplib

from interlock.domain.channel import ANSWERS, BY_LINK, Abilities, Channel, Message, text_setting, wrong
from interlock.domain.json_value import JsonObject
from interlock.domain.setting_field import SettingField
from interlock.ports.channels import AddressGone, CutOff, Refused, Unreachable

MAIL = "mail"
ABILITIES = Abilities(edits=False, taps=False, confirms=False, longest_text=20_000, links=True)
TIMEOUT_SECONDS = 30.0
CONNECT_SECONDS = 10.0
_PORTS = {"starttls": 587, "tls": 465, "none": 25}
_ANSWERS = ("page", BY_LINK)
"""On the request's page, where one signs in, or also on one to which a link in the mail leads, for who wants that."""
_LOCAL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}\Z")
_DOMAIN = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+\Z")
_STATUS = re.compile(r"\d\.\d{1,3}\.\d{1,3}\b")
_NO_SUCH_BOX = frozenset({"5.1.1", "5.1.6", "5.1.10", "5.2.1"})
"""Of these a mail server is sure (RFC 3463); a plain 550 may be about the sender or the relay."""
_MOVED = 551
_CLOSING = 421


class MailKind:
    abilities = ABILITIES
    sends_codes = True

    def __init__(self, hosts: Sequence[str], public_host: str) -> None:
        self._hosts = tuple(host.lower() for host in hosts)
        self._public_host = public_host

    @property
    def fields(self) -> Sequence[SettingField]:
        return (
            SettingField("host", "choice", required=True, options=self._hosts, default=self._hosts[0]),
            SettingField("security", "choice", required=True, options=tuple(_PORTS), default="starttls"),
            SettingField("port", "number"),
            SettingField("sender", required=True),
            SettingField("username"),
            SettingField("password", "secret"),
            SettingField("domains", "list"),
            SettingField(ANSWERS, "choice", required=True, options=_ANSWERS, default=_ANSWERS[0]),
        )

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        unknown = sorted(given.keys() - {"host", "port", "security", "sender", "username", "domains", ANSWERS})
        if unknown:
            raise wrong(f"settings.{unknown[0]}", "unknown", f"there is no setting {unknown[0]!r} of mail")
        host, security = text_setting(given, "host").lower(), text_setting(given, "security", "starttls")
        if host not in self._hosts:
            raise wrong("settings.host", "host", f"{host} is not one of the hosts in INTERLOCK_CHANNEL_HOSTS")
        if security not in _PORTS:
            raise wrong("settings.security", "unknown", f"security is one of {', '.join(_PORTS)}")
        settings: JsonObject = {
            "host": host,
            "port": _read_port(given.get("port", _PORTS[security])),
            "security": security,
            "sender": _read_address(text_setting(given, "sender"), "settings.sender"),
        }
        if given.get("username"):
            settings["username"] = text_setting(given, "username")
        if bool(settings.get("username")) != bool(credentials.get("password")):
            raise wrong("credentials.password", "missing", "a user name and a password come together")
        if security == "none" and credentials and not _is_loopback(host):
            raise wrong("settings.security", "open", "a password is sent over TLS only: use starttls or tls")
        if given.get("domains"):
            settings["domains"] = _read_domains(given["domains"])
        if (answers := text_setting(given, ANSWERS, _ANSWERS[0])) not in _ANSWERS:
            raise wrong(f"settings.{ANSWERS}", "unknown", f"{ANSWERS} is one of {', '.join(_ANSWERS)}")
        if answers == BY_LINK:
            settings[ANSWERS] = BY_LINK
        return settings

    def read_address(self, channel: Channel, text: str) -> str:
        address = _read_address(text.strip(), "address")
        domains = cast("list[str]", channel.settings.get("domains") or [])
        if domains and address.rpartition("@")[2] not in domains:
            raise wrong("address", "domain", f"this channel serves addresses of {', '.join(domains)} only")
        return address

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "OpenMail":
        host = cast("str", channel.settings["host"])
        if host not in self._hosts:
            raise Unreachable(f"{host} is not one of the hosts in INTERLOCK_CHANNEL_HOSTS")
        return OpenMail(
            host,
            cast("int", channel.settings["port"]),
            cast("str", channel.settings["security"]),
            cast("str", channel.settings["sender"]),
            cast("str | None", channel.settings.get("username")),
            credentials.get("password"),
            self._public_host,
        )


@dataclass(frozen=True, slots=True)
class OpenMail:
    host: str
    port: int
    security: str
    sender: str
    username: str | None
    password: str | None
    public_host: str

    async def send(self, address: str, message: Message) -> str:
        mail = compose(message, self.sender, address, self.public_host)
        client = self._client()
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self._connect(client)
                await self._hand_in(client, address, mail)
        except TimeoutError as error:
            raise CutOff("no response in time") from error
        finally:
            client.close()
        return mail["Message-ID"]

    async def update(self, address: str, ref: str, message: Message) -> None:
        raise NotImplementedError("a mail that was sent stays as it is")

    async def close(self) -> None:
        """Each mail has a connection of its own."""

    def _client(self) -> aiosmtplib.SMTP:
        return aiosmtplib.SMTP(
            hostname=self.host,
            port=self.port,
            username=self.username,
            password=self.password,
            use_tls=self.security == "tls",
            start_tls=self.security == "starttls",
            tls_context=None if self.security == "none" else ssl.create_default_context(),
            local_hostname=self.public_host,
            timeout=CONNECT_SECONDS,
        )

    async def _connect(self, client: aiosmtplib.SMTP) -> None:
        try:
            await client.connect()
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            # A wrong password too: tried with each mail, it would lock the account.
            raise Unreachable(_reason(error)) from error

    async def _hand_in(self, client: aiosmtplib.SMTP, address: str, mail: EmailMessage) -> None:
        try:
            await client.sendmail(self.sender, [address], mail.as_bytes())
        except aiosmtplib.SMTPRecipientsRefused as error:
            raise _recipient_error(error) from error
        except aiosmtplib.SMTPResponseException as error:
            raise (Unreachable if error.code == _CLOSING else Refused)(_reason(error)) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise CutOff(_reason(error)) from error


def compose(message: Message, sender: str, address: str, host: str) -> EmailMessage:
    """In plain words and as a page; a reply goes nowhere that decides anything."""
    mail = EmailMessage(policy=SMTP_POLICY)
    mail["From"] = f"Interlock <{sender}>"
    mail["To"] = address
    mail["Subject"] = message.title
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message.id}@{host}>"
    mail["References"] = f"<{message.about}@{host}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(plain_words(message))
    mail.add_alternative(page(message), subtype="html")
    return mail


def plain_words(message: Message) -> str:
    parts = [message.title]
    if message.rows:
        parts.append("\n".join(f"{row.label}: {row.value}" for row in message.rows))
    if message.text is not None:
        parts.append("\n".join(f"    {line}" for line in message.text.split("\n")))
    parts += message.notes
    if message.url is not None:
        parts.append(f"{message.url_label}:\n{message.url}")
    if message.answer_url is not None:
        parts.append(f"{message.answer_label}:\n{message.answer_url}")
    return "\n\n".join(parts) + "\n"


def page(message: Message) -> str:
    """The same without scripts, pictures, or anything that is loaded."""
    parts = [f"<p><strong>{_escaped(message.title)}</strong></p>"]
    if message.rows:
        rows = (f"<tr><td>{_escaped(row.label)}</td><td>{_escaped(row.value)}</td></tr>" for row in message.rows)
        parts.append(f'<table cellpadding="4">{"".join(rows)}</table>')
    if message.text is not None:
        parts.append(f'<pre style="white-space:pre-wrap">{_escaped(message.text)}</pre>')
    parts += [f"<p>{_escaped(note)}</p>" for note in message.notes]
    if message.url is not None:
        parts.append(_link(message.url, message.url_label))
    if message.answer_url is not None:
        parts.append(_link(message.answer_url, message.answer_label))
    return f"<!doctype html><html><body>{''.join(parts)}</body></html>\n"


def _link(url: str, label: str) -> str:
    return f'<p><a href="{html.escape(url)}">{_escaped(label)}</a></p>'


def _escaped(text: str) -> str:
    """As text, and with addresses taken apart, which readers of mail would make links of."""
    return html.escape(text).replace("://", ":<span>//</span>").replace("@", "<span>@</span>")


def _recipient_error(error: aiosmtplib.SMTPRecipientsRefused) -> Exception:
    refused = error.recipients[0]
    if refused.code == _MOVED or _status(refused.message) in _NO_SUCH_BOX:
        return AddressGone(_reason(refused))
    return (Unreachable if refused.code == _CLOSING else Refused)(_reason(refused))


def _reason(error: Exception) -> str:
    """Codes only: what a mail server says may repeat the address."""
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return f"the mail server answered {error.code} {_status(error.message)}".rstrip()
    return type(error).__name__


def _status(text: str) -> str:
    found = _STATUS.match(text.strip())
    return found[0] if found else ""


def _read_port(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 < given < 65536:
        raise wrong("settings.port", "form", "port is a number from 1 to 65535")
    return given


def _read_address(text: str, field: str) -> str:
    local, _, domain = text.rpartition("@")
    if not _LOCAL.match(local) or not _DOMAIN.match(domain):
        raise wrong(field, "form", "an e-mail address is like ann@example.com")
    return f"{local}@{domain.lower()}"


def _read_domains(given: object) -> list[str]:
    domains = [str(one).lower() for one in cast("list[object]", given)] if isinstance(given, list) else []
    if not domains or not all(_DOMAIN.match(one) for one in domains):
        raise wrong("settings.domains", "form", "domains are a list of names such as example.com")
    return domains


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
