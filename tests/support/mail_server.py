"""A mail server on loopback: it keeps what it takes, and answers as the test says."""

import asyncio
import email
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import Any, Self, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from tests.support.waiting import wait_for

USER, PASSWORD = "interlock", "hunter2"
OK = "250 OK"


class _AnyPort(Controller):
    port: int

    def _trigger_server(self) -> None:
        server = cast("asyncio.Server", self.server)
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()


@dataclass
class MailServer:
    """Answers are given in turn, the last of them from then on."""

    tls: ssl.SSLContext | None = None
    with_password: bool = False
    to_recipients: Sequence[str] = (OK,)
    to_data: Sequence[str] = (OK,)
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list[EmailMessage])
    seen: list[str] = field(default_factory=list[str])
    _controller: Controller | None = None

    async def handle_RCPT(self, server: Any, session: Any, envelope: Envelope, address: str, options: Any) -> str:  # noqa: N802
        self.seen.append("rcpt")
        answer = _in_turn(self.to_recipients, self.seen.count("rcpt"))
        if answer == OK:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        self.seen.append("data")
        answer = _in_turn(self.to_data, self.seen.count("data"))
        if answer == OK:
            content = cast("bytes", envelope.content)
            self.mails.append(email.message_from_bytes(content, policy=default))
        return answer

    def start(self) -> Self:
        """Listen, after a stop at the same port as before."""
        self._controller = _AnyPort(
            self,
            hostname="127.0.0.1",
            port=self.port,
            ready_timeout=60,
            tls_context=self.tls,
            require_starttls=self.tls is not None,
            auth_required=self.with_password,
            auth_require_tls=self.with_password,
            authenticator=_authenticate if self.with_password else None,
        )
        self._controller.start()
        self.port = self._controller.port
        return self

    def stop(self) -> None:
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    def wait_for(self, count: int) -> list[EmailMessage]:
        return wait_for(lambda: list(self.mails), lambda seen: len(seen) >= count)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def _in_turn(answers: Sequence[str], number: int) -> str:
    return answers[min(number, len(answers)) - 1]


def _authenticate(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    is_right = isinstance(given, LoginPassword) and (given.login, given.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=is_right, handled=False)


def text_of(mail: EmailMessage, subtype: str = "plain") -> str:
    part = mail.get_body((subtype,))
    assert part is not None
    return part.get_content()
