"""How a message looks in Slack: sections of plain text, and buttons."""

from interlock.domain.channel import Button, Confirmation, Message
from interlock.domain.json_value import JsonObject

SECTION, BUTTON, TITLE, QUESTION, ANSWER = 3_000, 75, 100, 300, 30
"""How long Slack takes them, in units of UTF-16."""
FALLBACK = 300


def blocks(message: Message) -> list[JsonObject]:
    parts = [message.title]
    if message.rows:
        parts.append("\n".join(f"{row.label}: {row.value}" for row in message.rows))
    if message.text is not None:
        parts.append(message.text)
    parts += message.notes
    laid_out: list[JsonObject] = [{"type": "section", "text": _plain(part, SECTION)} for part in parts]
    elements = [_button(button, number) for number, button in enumerate(message.buttons)]
    if message.url is not None:
        label = _plain(message.url_label, BUTTON)
        elements.append({"type": "button", "action_id": "open", "text": label, "url": message.url})
    if elements:
        laid_out.append({"type": "actions", "elements": elements})
    return laid_out


def fallback(message: Message) -> str:
    """What notifications of the system show. Slack reads marks in it, so that none is left."""
    text = message.title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _cut(text, FALLBACK)


def _button(button: Button, number: int) -> JsonObject:
    element: JsonObject = {
        "type": "button",
        "action_id": f"act-{number}",
        "text": _plain(button.label, BUTTON),
        "value": button.token,
    }
    if button.is_yes or button.is_no:
        element["style"] = "primary" if button.is_yes else "danger"
    if button.confirmation is not None:
        element["confirm"] = _confirm(button.confirmation)
    return element


def _confirm(asked: Confirmation) -> JsonObject:
    return {
        "title": _plain(asked.question, TITLE),
        "text": _plain(asked.question, QUESTION),
        "confirm": _plain(asked.yes, ANSWER),
        "deny": _plain(asked.no, ANSWER),
    }


def _plain(text: str, most: int) -> JsonObject:
    return {"type": "plain_text", "text": _cut(text, most) or " ", "emoji": False}


def _cut(text: str, most: int) -> str:
    """What is shown whole is never as long: the text of a call is not sent at all where it would be."""
    if len(text.encode("utf-16-le")) // 2 <= most:
        return text
    return text.encode("utf-16-le")[: 2 * (most - 1)].decode("utf-16-le", "ignore") + "…"
