"""`SyncInterlock`: everything that `Interlock` does, for code without async.

Each call runs the async one on a loop in a thread of its own: there is nothing here to be kept alike.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from interlock_client._loop_thread import LoopThread
from interlock_client.client import PATIENCE, TIMEOUT, URL, Interlock

P = ParamSpec("P")
T = TypeVar("T")


class _Twin:
    def __init__(self, client: Interlock, loop: LoopThread) -> None:
        self._client = client
        self._loop = loop


def waits(
    method: Callable[Concatenate[Interlock, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[_Twin, P], T]:
    @wraps(method)
    def wait(self: _Twin, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._client, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]

    return wait


def iterates(
    method: Callable[Concatenate[Interlock, P], AsyncGenerator[T]],
) -> Callable[Concatenate[_Twin, P], Generator[T]]:
    @wraps(method)
    def iterate(self: _Twin, *args: P.args, **kwargs: P.kwargs) -> Generator[T]:
        return self._loop.iterate(method(self._client, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]

    return iterate


class SyncInterlock(_Twin):
    """`Interlock` for code without async. It may be used by several threads at once."""

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
        client = Interlock(
            url,
            key=key,
            token=token,
            user=user,
            locale=locale,
            agent=agent,
            conversation_id=conversation_id,
            timeout=timeout,
            patience=patience,
        )
        super().__init__(client, LoopThread())

    @classmethod
    def _over(cls, client: Interlock, loop: LoopThread) -> Self:
        twin = cls.__new__(cls)
        _Twin.__init__(twin, client, loop)
        return twin

    @classmethod
    def sign_in(cls, url: str, username: str, password: str, *, locale: str | None = None) -> Self:
        """A client of the person with this name and password."""
        loop = LoopThread()
        try:
            return cls._over(loop.run(Interlock.sign_in(url, username, password, locale=locale)), loop)
        except BaseException:
            loop.close()
            raise

    @classmethod
    def from_environment(cls, *, locale: str | None = None) -> Self:
        """The server at INTERLOCK_URL, with the key in INTERLOCK_KEY."""
        return cls._over(Interlock.from_environment(locale=locale), LoopThread())

    ask = waits(Interlock.ask)
    ask_clarification = waits(Interlock.ask_clarification)
    ask_decision = waits(Interlock.ask_decision)
    ask_env_vars = waits(Interlock.ask_env_vars)
    ask_questions = waits(Interlock.ask_questions)
    ask_approval = waits(Interlock.ask_approval)

    pending = iterates(Interlock.pending)
    request = waits(Interlock.request)
    respond = waits(Interlock.respond)
    cancel = waits(Interlock.cancel)
    follow = iterates(Interlock.follow)
    inbox = iterates(Interlock.inbox)
    whoami = waits(Interlock.whoami)
    welcome = waits(Interlock.welcome)
    follow_inbox = iterates(Interlock.follow_inbox)

    create_thread = waits(Interlock.create_thread)
    threads = iterates(Interlock.threads)
    delete_thread = waits(Interlock.delete_thread)
    status = waits(Interlock.status)
    history = waits(Interlock.history)
    chat = iterates(Interlock.chat)
    resume = iterates(Interlock.resume)
    follow_thread = iterates(Interlock.follow_thread)

    invoke = waits(Interlock.invoke)
    resume_session = waits(Interlock.resume_session)
    session = waits(Interlock.session)
    delete_session = waits(Interlock.delete_session)
    system_info = waits(Interlock.system_info)

    create_key = waits(Interlock.create_key)
    keys = waits(Interlock.keys)
    revoke_key = waits(Interlock.revoke_key)
    grants = waits(Interlock.grants)
    revoke_grant = waits(Interlock.revoke_grant)
    secrets = waits(Interlock.secrets)
    delete_secret = waits(Interlock.delete_secret)
    audit = iterates(Interlock.audit)

    check_policy = waits(Interlock.check_policy)
    try_policy = waits(Interlock.try_policy)
    replay_policy = waits(Interlock.replay_policy)
    save_policy = waits(Interlock.save_policy)
    activate_policy = waits(Interlock.activate_policy)
    policies = waits(Interlock.policies)
    policy_version = waits(Interlock.policy_version)
    shadow_policy = waits(Interlock.shadow_policy)
    shadow_report = waits(Interlock.shadow_report)
    explain = waits(Interlock.explain)

    groups = waits(Interlock.groups)
    create_group = waits(Interlock.create_group)
    set_group = waits(Interlock.set_group)
    remove_group = waits(Interlock.remove_group)
    find_people = waits(Interlock.find_people)
    away = waits(Interlock.away)
    set_away = waits(Interlock.set_away)
    end_away = waits(Interlock.end_away)
    inbox_request = waits(Interlock.inbox_request)
    claim = waits(Interlock.claim)
    release = waits(Interlock.release)
    delegate = waits(Interlock.delegate)
    route = waits(Interlock.route)
    withdraw_vote = waits(Interlock.withdraw_vote)
    comments = waits(Interlock.comments)
    comment = waits(Interlock.comment)

    @property
    def url(self) -> str:
        return self._client.url

    @property
    def conversation_id(self) -> str | None:
        """Where this client asks; the first ask begins one, unless it was given."""
        return self._client.conversation_id

    def close(self) -> None:
        """What still waits in other threads is ended."""
        if not self._loop.is_closed:
            self._loop.run(self._client.close())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"
