"""What is said of an answer that cannot be taken, in the reader's language where that is more than a form."""

from interlock.domain.errors import InvalidInput, ReadsAsRefusal
from interlock.texts import Locale, answers_text


def message_of(error: InvalidInput, locale: Locale, form: str) -> str:
    """`form` is how the face spells an answer, with `%s` in its place."""
    if not isinstance(error, ReadsAsRefusal):
        return error.message
    text = error.text
    itself = form % f'{{"text": {text}}}'
    return answers_text("reads_as_refusal", locale, text=text, no=form % "false", itself=itself)
