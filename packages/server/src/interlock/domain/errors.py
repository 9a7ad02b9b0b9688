"""Everything that the core refuses, as one shallow tree.

    InterlockError
    ├── InvalidInput         the caller sent something that cannot be taken; `errors` names each field
    │   ├── InvalidAnswer    an answer that does not fit what was asked; the request stays open
    │   └── WrongSession     a reply to another session than the user's present one
    ├── NotAuthenticated     no credential, or one that does not hold
    ├── Forbidden            the caller may not do this, or the thing does not exist for them
    ├── NotFound             no such thing, told only to those who may know
    ├── Conflict             the thing is in another state than the call needs
    │   ├── AlreadySettled   a request that somebody, or its deadline, settled first
    │   ├── NothingPending   a thread that waits for nobody
    │   ├── NotShown         a reply sent before its question was shown
    │   ├── ThreadBusy       a thread that runs or waits, and takes no new message
    │   └── KeyReused        an idempotency key that came before with another body
    ├── RateLimited          too much at once; `retry_after` says when there is room again
    │   └── TooManyOpen      more requests than may wait for people at once
    ├── Undeliverable        a receiver outside that was not reached, or may not be
    ├── Unreadable           what was sealed under another key than the present one
    ├── LeaseLost            a worker that another one replaced; it must stop and commit nothing
    ├── IllegalTransition    a state change that no transition table allows: a bug of ours
    └── StorageUnavailable   the database cannot be reached or written
        └── NoWorker         nothing runs agents: what needs one is not taken

`code` is stable and is what faces map and tests assert; the text is for people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class InterlockError(Exception):
    code: ClassVar[str] = "error"

    def __init__(self, message: str, **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.context: Mapping[str, Any] = context
        self.notes = ""
        """What stands below the message where there is room for more than one line."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: where it is, what is wrong with it, and a stable name for that."""

    field: str
    code: str
    message: str


class InvalidInput(InterlockError):
    code = "invalid_input"

    def __init__(self, message: str, errors: Sequence[FieldError] = (), **context: Any) -> None:
        super().__init__(message, **context)
        self.errors = tuple(errors)


class InvalidAnswer(InvalidInput):
    code = "invalid_answer"


class WrongSession(InvalidInput):
    code = "wrong_session"


class NotAuthenticated(InterlockError):
    code = "not_authenticated"


class Forbidden(InterlockError):
    code = "forbidden"


class NotFound(InterlockError):
    code = "not_found"


class Conflict(InterlockError):
    code = "conflict"


class AlreadySettled(Conflict):
    code = "already_settled"


class NothingPending(Conflict):
    code = "nothing_pending"


class NotShown(Conflict):
    code = "not_shown"


class ThreadBusy(Conflict):
    code = "thread_busy"


class KeyReused(Conflict):
    code = "key_reused"


class RateLimited(InterlockError):
    code = "rate_limited"

    def __init__(self, message: str, retry_after: float, **context: Any) -> None:
        super().__init__(message, **context)
        self.retry_after = retry_after


class TooManyOpen(RateLimited):
    code = "too_many_open"


class Undeliverable(InterlockError):
    code = "undeliverable"


class Unreadable(InterlockError):
    code = "unreadable"


class LeaseLost(InterlockError):
    code = "lease_lost"


class IllegalTransition(InterlockError):
    code = "illegal_transition"


class StorageUnavailable(InterlockError):
    code = "storage_unavailable"


class NoWorker(StorageUnavailable):
    code = "no_worker"
