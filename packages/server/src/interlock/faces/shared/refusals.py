"""What is said to who is not eligible, and of a yes that is not the last one, in the reader's language."""

from interlock.domain.errors import NotEligible
from interlock.domain.terms import VoteCount
from interlock.texts import Locale, teams_text


def needs_text(error: NotEligible, locale: Locale) -> str:
    """Whose yes it takes."""
    if not error.needs.who:
        return teams_text("not_eligible.others", locale)
    return teams_text("not_eligible", locale, who=error.needs.who)


def count_text(votes: VoteCount, locale: Locale) -> str:
    """For who said yes to what others have to say yes to as well."""
    return teams_text("counted", locale, yes=votes.yes, needed=votes.needed)
