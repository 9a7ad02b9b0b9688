"""What tools did, by the witness' counts: never twice without a person's word, never what was refused."""

from collections.abc import Iterator

from tests.campaign.history import Asked, Effect, Entry, History
from tests.campaign.request_model import winner_of
from tests.campaign.violation import Violation

YES = "accept"
AGAIN = "retry"


def check_effects(history: History) -> Iterator[Violation]:
    for effect in history.effects:
        yield from _check_effect(history, effect)


def _check_effect(history: History, effect: Effect) -> Iterator[Violation]:
    asked = [one for one in history.asked if one.effect == effect.name]
    words = {one.request: (winner_of(history, one.request) or "").partition(": ")[2] for one in asked}
    is_approved = any(words[one.request] == YES for one in asked if one.purpose == "approval")
    doubts = [one for one in asked if one.purpose == "doubt"]
    retries = sum(words[one.request] == AGAIN for one in doubts)
    part = _part(history, effect, asked)
    if effect.count and not is_approved:
        yield Violation("what nobody approved was done", effect.name, part)
    elif effect.count > 1 + retries:
        yield Violation("an effect was doubled", effect.name, part)
    elif effect.count > effect.results + len(doubts):
        yield Violation("an effect is in doubt, and nobody was asked", effect.name, part)
    elif is_approved and not doubts and not effect.count:
        yield Violation("what was approved was never done", effect.name, part)


def _part(history: History, effect: Effect, asked: list[Asked]) -> list[Entry]:
    requests = {one.request for one in asked}
    calls = [call for call in history.calls if call.about in requests and call.verb == "answer"]
    return [effect, *asked, *calls]
