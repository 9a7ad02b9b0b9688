"""`Interlock`: ask people from any program, answer what was asked, and talk to hosted agents. `SyncInterlock` is its
twin without async."""

import os
from typing import Self

from interlock_client._asking import Asking
from interlock_client._inbox import InboxPart
from interlock_client._managing import Managing
from interlock_client._policies import Policies
from interlock_client._requests import Requests
from interlock_client._sessions import Sessions
from interlock_client._teams import Teams
from interlock_client._threads import Threads
from interlock_client._transport import Call, Transport
from interlock_client.errors import InvalidInput
from interlock_client.language import language
from interlock_client.threads import AccessToken

URL = "http://127.0.0.1:8000"
TIMEOUT = 30.0
PATIENCE = 30.0


class Interlock(Asking, Requests, InboxPart, Threads, Sessions, Managing, Policies, Teams):
    """A server, as one person or agent sees it.

    `key` is an API key, `token` one of `sign_in`; `user` is for servers that run without accounts. `agent` is the name
    that people see asking, `locale` the language of the server's texts: that of LC_ALL, LC_MESSAGES or LANG where it is
    None. `timeout` is how long one reply may take, `patience` for how long to go on trying while the
    server cannot be reached; an ask that was placed is waited for as long as it may be answered. Seconds.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        key: str | None = None,
        token: str | None = None,
        user: str | None = None,
        locale: str | None = None,
        agent: str | None = None,
        conversation_id: str | None = None,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
    ) -> None:
        if key and token:
            raise InvalidInput("give a key or a token, not both")
        transport = Transport(
            url,
            credential=key or token,
            user=user,
            locale=language() if locale is None else locale,
            timeout=timeout,
            patience=patience,
        )
        super().__init__(transport, agent, conversation_id)

    @classmethod
    async def sign_in(cls, url: str, username: str, password: str, *, locale: str | None = None) -> Self:
        """A client of the person with this name and password."""
        async with Interlock(url, locale=locale) as anybody:
            call = Call("POST", "/api/auth/login", {"username": username, "password": password}, repeatable=True)
            signed_in = await anybody._transport.fetch(AccessToken, call)
        return cls(url, token=signed_in.access_token, locale=locale)

    @classmethod
    def from_environment(cls, *, locale: str | None = None) -> Self:
        """The server at INTERLOCK_URL, with the key in INTERLOCK_KEY."""
        url, key = os.environ.get("INTERLOCK_URL") or URL, os.environ.get("INTERLOCK_KEY") or None
        return cls(url, key=key, locale=locale)

    @property
    def url(self) -> str:
        return self._transport.url

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"
