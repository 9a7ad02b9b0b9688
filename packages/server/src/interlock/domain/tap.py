"""What comes back over a channel: taps of buttons, and codes that people send; and what became of it."""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from interlock.domain.channel import Message
from interlock.domain.notice_rules import Act, Offer

TOKENS_LIVE = timedelta(days=30)
"""Those of a request without a deadline; vendors end their buttons about then."""
LINKS_LIVE = timedelta(hours=24)
"""Those of pages that take an answer."""
_TOKEN_BYTES = 16


OPENS = Offer(Act.OPEN)


class Stage(StrEnum):
    """Which of the two acts a button is."""

    FIRST = "first"
    SURE = "sure"
    """The second act, where a channel does not ask again by itself."""
    BACK = "back"


@dataclass(frozen=True, slots=True)
class ButtonAction:
    """What the row behind a token keeps of what its button does."""

    act: Act
    option: str = ""
    stage: Stage = Stage.FIRST

    def write(self) -> str:
        return f"{self.stage}:{self.act}:{self.option}"

    @classmethod
    def read(cls, text: str) -> "ButtonAction":
        stage, act, option = text.split(":", 2)
        return cls(Act(act), option, Stage(stage))

    def is_of(self, offer: Offer) -> bool:
        return (self.act, self.option) == (offer.act, offer.option)


def action_of(offer: Offer, stage: Stage = Stage.FIRST) -> ButtonAction:
    return ButtonAction(offer.act, offer.option, stage)


def token_for(key: bytes, notice_id: str, action: ButtonAction) -> str:
    """22 characters that nobody guesses without the key. The same each time, so that a notice that is sent twice has
    the same tokens, although only their hashes are kept."""
    digest = hmac.digest(key, f"{notice_id} {action.write()}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:_TOKEN_BYTES]).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Said:
    """What an account wrote to the server, and to nobody else."""

    event_id: str
    external_id: str
    text: str


class TapOutcome(StrEnum):
    SETTLED = "settled"
    COUNTED = "counted"
    """It waits for others."""
    ASKED_AGAIN = "asked_again"
    """Nothing yet: the second act is missing."""
    LATE = "late"
    """The request had ended before."""
    UNLINKED = "unlinked"
    NOT_YOURS = "not_yours"
    """The message went to another address."""
    NOT_ELIGIBLE = "not_eligible"
    CLAIMED = "claimed"
    CHANGED = "changed"
    """It is not any more what the message showed."""
    ENDED = "ended"
    """The button does nothing any more."""


@dataclass(frozen=True, slots=True)
class TapResult:
    outcome: TapOutcome
    text: str
    """For whoever tapped, in one sentence."""
    message: Message | None = None
    """What is to stand in the place of the message now; None: it stays."""
