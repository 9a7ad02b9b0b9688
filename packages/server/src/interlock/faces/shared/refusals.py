"""What is said of an answer that cannot be taken, in the reader's language where that is more than a form."""

from interlock.domain.errors import InvalidInput
from interlock.domain.free_answers import READS_AS_REFUSAL
from interlock.faces.http.locale import Locale

_REFUSAL = '{text} 读起来是拒绝，但作为文本会被当作“是”：要拒绝请回答 false，要原样发送该文本请回答 {{"text": {text}}}'


def message_of(error: InvalidInput, locale: Locale) -> str:
    if locale == "zh" and is_refusal(error):
        return _REFUSAL.format(text=error.context["text"])
    return error.message


def is_refusal(error: InvalidInput) -> bool:
    """A text that reads as a no, where only JSON says one."""
    return any(one.code == READS_AS_REFUSAL for one in error.errors)
