"""How a message looks in Feishu: a card (JSON 2.0) of plain text, with buttons that come back as objects."""

from interlock.domain.channel import Button, Message
from interlock.domain.json_value import JsonObject


def card(message: Message) -> JsonObject:
    parts: list[str] = []
    if message.rows:
        parts.append("\n".join(f"{row.label}: {row.value}" for row in message.rows))
    if message.text is not None:
        parts.append(message.text)
    parts += message.notes
    elements: list[JsonObject] = [{"tag": "div", "text": _plain(part)} for part in parts]
    elements += [_button(button) for button in message.buttons]
    if message.url is not None:
        link: JsonObject = {"type": "open_url", "default_url": message.url}
        elements.append({"tag": "button", "text": _plain(message.url_label), "type": "default", "behaviors": [link]})
    return {
        "schema": "2.0",
        "config": {"update_multi": True, "enable_forward": False},
        "header": {"title": _plain(message.title)},
        "body": {"elements": elements},
    }


def _button(button: Button) -> JsonObject:
    kind = "primary" if button.is_yes else "danger" if button.is_no else "default"
    # An object: of a text the vendor's own libraries make nothing.
    behavior: JsonObject = {"type": "callback", "value": {"t": button.token}}
    element: JsonObject = {"tag": "button", "text": _plain(button.label), "type": kind, "behaviors": [behavior]}
    if button.confirmation is not None:
        question = _plain(button.confirmation.question)
        element["confirm"] = {"title": question, "text": question}
    return element


def _plain(text: str) -> JsonObject:
    return {"tag": "plain_text", "content": text or " "}
