"""What this process remembers, and a restart forgets: who looks, what was shown, who follows, what was used."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from interlock.domain.event import Looking
from interlock.domain.request import Pause
from interlock.domain.sign_in import USE_NOTED_EVERY

REMEMBERED = 10_000
"""Of each: the oldest goes first."""
SETTLED_VIEW = timedelta(seconds=2)
"""After so long a pause counts as seen by whoever has not replied on its thread before."""
DOUBLE_CLICK = timedelta(seconds=1)
SIGN_INS_APART = 100
"""So many accounts and addresses whose sign-ins fail are told apart in an hour."""

Token = tuple[str, datetime]
Gone = Callable[[str, datetime], Awaitable[None]]


def _forget_oldest(entries: OrderedDict[Any, Any]) -> None:
    while len(entries) > REMEMBERED:
        entries.popitem(last=False)


class Viewers:
    """Who has which request on their screen right now, as far as this process knows."""

    def __init__(self) -> None:
        self._until: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    def add(self, looking: Looking) -> None:
        self._until.pop((looking.request_id, looking.name), None)
        self._until[(looking.request_id, looking.name)] = looking.until
        _forget_oldest(self._until)

    def at(self, request_ids: Collection[str], now: datetime) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for (request_id, name), until in self._until.items():
            if request_id in request_ids and until > now:
                found.setdefault(request_id, []).append(name)
        return found


class SeenPauses:
    """What was shown to whom, for faces whose replies do not name their question.

    A bare "continue" may only settle a pause that its sender has seen: else the second half of a double click, or a
    reply sent twice at once, would approve whatever the agent asks next. A pause counts as seen by a person once a
    frame or a reply with it has been handed to their connection. A pause that has been open for a while counts as seen
    by whoever has not replied on the thread before: it cannot be the answer to an earlier click. Who has, and was not
    shown the next question, sends the same reply again, because the response to the first one was lost on its way.

    A fast agent may show its next question between the two halves of a double click. So a person's own replies are
    remembered too: a face that knows a reply to come from a browser refuses one that follows the last too closely.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], bool] = OrderedDict()
        """Whether it was shown by anything but the reply to an answer."""
        self._replied: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    def show(self, pause_id: str, principal_id: str, *, in_reply: bool = False) -> None:
        """`in_reply`: by the reply to the answer before it, which may be lost on a connection that seems to be open."""
        key = (pause_id, principal_id)
        self._seen[key] = self._seen.get(key, False) or not in_reply
        _forget_oldest(self._seen)

    def is_in_view(
        self, pause: Pause, principal_id: str, now: datetime, *, is_click: bool, is_one_of_many: bool
    ) -> bool:
        """Whether a reply that does not name its question means this pause. Where several may be open at once, one that
        has been open for long may still never have been shown."""
        if is_click and self.has_just_replied(pause.thread_id, principal_id, now):
            return False
        if (pause.id, principal_id) in self._seen:
            return True
        if is_one_of_many or (pause.thread_id, principal_id) in self._replied:
            return False
        return now - pause.created_at >= SETTLED_VIEW

    def record_reply(self, thread_id: str, principal_id: str, now: datetime) -> None:
        self._replied.pop((thread_id, principal_id), None)
        self._replied[(thread_id, principal_id)] = now
        _forget_oldest(self._replied)

    def has_seen(self, view: str, principal_id: str) -> bool:
        """Whether that was shown to them: a pause by its id, or a view of one by what a face calls it."""
        return (view, principal_id) in self._seen

    def has_looked(self, view: str, principal_id: str) -> bool:
        """Whether it was shown to them by more than the reply to an answer."""
        return self._seen.get((view, principal_id), False)

    def has_just_replied(self, thread_id: str, principal_id: str, now: datetime) -> bool:
        last = self._replied.get((thread_id, principal_id))
        return last is not None and now - last < DOUBLE_CLICK


class InvalidReplies:
    """How often somebody tried to answer a request with what cannot be taken."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, int] = OrderedDict()

    def fail(self, request_id: str) -> int:
        """One more; how many there are now."""
        count = self._failed.pop(request_id, 0) + 1
        self._failed[request_id] = count
        _forget_oldest(self._failed)
        return count


class TokenUses:
    """When tokens were last used: noted once a minute each, however much is asked with one."""

    def __init__(self) -> None:
        self._noted: OrderedDict[Token, datetime] = OrderedDict()

    def note(self, token: Token, now: datetime) -> bool:
        """Whether it is to be written down now."""
        before = self._noted.get(token)
        if before is not None and abs(now - before) < USE_NOTED_EVERY:
            return False
        self._noted[token] = now
        self._noted.move_to_end(token)
        _forget_oldest(self._noted)
        return True


class Presence:
    """Counts the followers of each thread in this process.

    When the last one has gone and none came back within the grace time, `gone` is called with the thread's id and the
    moment at which that one went.
    """

    def __init__(self) -> None:
        self._followers: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @contextmanager
    def follow(self, thread_id: str, grace: float, now: Callable[[], datetime], gone: Gone) -> Generator[None]:
        self._followers[thread_id] += 1
        if timer := self._timers.pop(thread_id, None):
            timer.cancel()
        try:
            yield
        finally:
            self._followers[thread_id] -= 1
            if self._followers[thread_id] <= 0:
                del self._followers[thread_id]
                if not self._is_closed:
                    loop = asyncio.get_running_loop()
                    self._timers[thread_id] = loop.call_later(grace, self._fire, thread_id, now(), gone)

    def is_followed(self, thread_id: str) -> bool:
        """Whether somebody follows it here, or may be about to come back."""
        return thread_id in self._followers or thread_id in self._timers

    def close(self) -> None:
        """Forget every timer, and begin none: a server that shuts down, and closes its streams, is not a disconnect."""
        self._is_closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _fire(self, thread_id: str, left_at: datetime, gone: Gone) -> None:
        self._timers.pop(thread_id, None)

        async def call() -> None:
            await gone(thread_id, left_at)

        task = asyncio.create_task(call())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    how: str
    """`password` or `link`."""
    account: str | None
    """None where there is none of that name, which is not kept: people type a password there too."""
    address: str | None
    """None for all that are not told apart."""


@dataclass(slots=True)
class AttemptCount:
    since: datetime
    more: int = 0


class FailedSignIns:
    """Sign-ins that failed, on their way to the audit trail, which nobody may flood.

    The first one of an account from an address is recorded at once; those that follow are counted, and recorded as one
    entry in the next hour, or when the server stops. So many accounts and addresses are told apart in that time; the
    rest is counted together. Of a server that is killed the count is lost, and the first entry is not.
    """

    def __init__(self) -> None:
        self._counts: dict[SignInAttempt, AttemptCount] = {}

    def add(self, attempt: SignInAttempt, at: datetime) -> SignInAttempt | None:
        """Count one; what is to be recorded at once, if it is the first."""
        if attempt not in self._counts and len(self._counts) >= SIGN_INS_APART:
            attempt = SignInAttempt(attempt.how, None, None)
        if attempt not in self._counts:
            self._counts[attempt] = AttemptCount(at)
            return attempt
        self._counts[attempt].more += 1
        return None

    def take(self) -> list[tuple[SignInAttempt, AttemptCount]]:
        """What was counted beyond the first of each; all of it begins again."""
        counted, self._counts = self._counts, {}
        return [(attempt, count) for attempt, count in counted.items() if count.more]
