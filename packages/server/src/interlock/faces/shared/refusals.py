"""What is said of an answer that cannot be taken, in the reader's language where that is more than a form."""

from interlock.domain.errors import InvalidInput, NotEligible, ReadsAsRefusal
from interlock.domain.terms import VoteCount
from interlock.texts import Locale, answers_text, teams_text


def message_of(error: InvalidInput, locale: Locale, form: str) -> str:
    """`form` is how the face spells an answer, with `%s` in its place."""
    if not isinstance(error, ReadsAsRefusal):
        return error.message
    text = error.text
    itself = form % f'{{"text": {text}}}'
    return answers_text("reads_as_refusal", locale, text=text, no=form % "false", itself=itself)


def needs_text(error: NotEligible, locale: Locale) -> str:
    """Whose yes it takes."""
    if not error.needs.who:
        return teams_text("not_eligible.others", locale)
    return teams_text("not_eligible", locale, who=error.needs.who)


def count_text(votes: VoteCount, locale: Locale) -> str:
    """For who said yes to what others have to say yes to as well."""
    return teams_text("counted", locale, yes=votes.yes, needed=votes.needed)
