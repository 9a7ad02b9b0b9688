"""Everything that the core refuses, as one shallow tree.

    InterlockError
    ├── InvalidInput         the caller sent something that cannot be taken; `errors` names each field
    │   ├── InvalidAnswer    an answer that does not fit what was asked; the request stays open
    │   │   └── ReadsAsRefusal   a text that reads as a no, where a text counts as a yes
    │   └── WrongSession     a reply to another session than the user's present one
    ├── NotAuthenticated     no credential, or one that does not hold
    ├── Forbidden            the caller may not do this, or the thing does not exist for them
    │   ├── SignInForbidden  the right password of somebody who may not sign in
    │   ├── PasswordsOff     what needs a password, where the operator turned them off
    │   ├── SignOnFailed     single sign-on that did not come about; `reason` is why
    │   └── NotEligible      a request whose terms name others; `needs` says whom
    ├── NotFound             no such thing, told only to those who may know
    │   └── NoSession        a user without a session
    ├── Conflict             the thing is in another state than the call needs
    │   ├── AlreadySettled   a request that somebody, or its deadline, settled first
    │   ├── NothingPending   a thread that waits for nobody
    │   ├── NotShown         a reply sent before its question was shown
    │   ├── Claimed          a request that somebody else said they have
    │   ├── ThreadBusy       a thread that runs or waits, and takes no new message
    │   ├── LastAdmin        somebody without whom nobody would be an admin
    │   ├── KeyReused        an idempotency key that came before with another body
    │   └── TakenOver        an ask for which another call waits by now; its answer is for that one
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
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from interlock.domain.request import Pause, Request, RequestEnd
    from interlock.domain.terms import Needs
    from interlock.domain.thread import ThreadStatus


SignOnReason = Literal["off", "unreachable", "refused", "denied", "expired", "closed"]
"""`off`: not set up; `refused`: what the provider sent cannot be taken; `denied`: the provider signed nobody in;
`expired`: another browser began it, or too long ago; `closed`: no account is made here."""


class InterlockError(Exception):
    code: ClassVar[str] = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
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

    def __init__(self, message: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.errors = tuple(errors)


class InvalidAnswer(InvalidInput):
    code = "invalid_answer"


class ReadsAsRefusal(InvalidAnswer):
    """A text that reads as a no, where only JSON says one; `text` is the text as JSON."""

    def __init__(self, message: str, errors: Sequence[FieldError], text: str) -> None:
        super().__init__(message, errors)
        self.text = text


class WrongSession(InvalidInput):
    code = "wrong_session"


class NotAuthenticated(InterlockError):
    code = "not_authenticated"


class Forbidden(InterlockError):
    code = "forbidden"


class SignInForbidden(Forbidden):
    code = "kept_out"


class PasswordsOff(Forbidden):
    code = "passwords_off"


class SignOnFailed(Forbidden):
    """Why exactly is for the log: what a provider sent, anybody may have written."""

    code = "sign_on_failed"

    def __init__(self, message: str, reason: SignOnReason = "refused") -> None:
        super().__init__(message)
        self.reason = reason


class NotEligible(Forbidden):
    code = "not_eligible"

    def __init__(self, message: str, needs: "Needs") -> None:
        super().__init__(message)
        self.needs = needs


class NotFound(InterlockError):
    code = "not_found"

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        """Where it is a request that is not there."""


class NoSession(NotFound):
    def __init__(self, user: str) -> None:
        super().__init__("the user has no session")
        self.user = user


class Conflict(InterlockError):
    code = "conflict"


class AlreadySettled(Conflict):
    code = "already_settled"

    def __init__(self, message: str, end: "RequestEnd") -> None:
        super().__init__(message)
        self.end = end


class NothingPending(Conflict):
    code = "nothing_pending"

    def __init__(self, message: str, status: "ThreadStatus", end: "RequestEnd | None") -> None:
        super().__init__(message)
        self.status = status
        self.end = end
        """Of the last request on the thread: the reply came after that."""


class NotShown(Conflict):
    code = "not_shown"


class Claimed(Conflict):
    code = "claimed"

    def __init__(self, message: str, by: str, until: "datetime") -> None:
        super().__init__(message)
        self.by = by
        self.until = until


class ThreadBusy(Conflict):
    code = "thread_busy"

    def __init__(
        self,
        message: str,
        thread_id: str,
        status: "ThreadStatus",
        pause: "Pause | None" = None,
        requests: "Sequence[Request]" = (),
    ) -> None:
        super().__init__(message)
        self.thread_id = thread_id
        self.status = status
        self.pause = pause
        self.requests = requests


class LastAdmin(Conflict):
    code = "last_admin"


class KeyReused(Conflict):
    code = "key_reused"


class TakenOver(Conflict):
    code = "taken_over"


class RateLimited(InterlockError):
    code = "rate_limited"

    def __init__(self, message: str | Mapping[str, str], retry_after: float) -> None:
        """`message`: in English, or in each language."""
        texts = {"en": message} if isinstance(message, str) else message
        super().__init__(texts["en"])
        self.texts = texts
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
