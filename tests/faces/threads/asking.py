"""Asks of every kind, as the puppet's calls."""

from typing import Any

from tests.support.puppet import Call

COLOURS: dict[str, Any] = {
    "question": "你喜欢什么颜色?",
    "options": [
        {"label": "红色", "value": "red"},
        {"label": "绿色", "value": "green"},
        {"label": "自定义", "value": "__custom__", "allow_custom": True},
    ],
}
HOW: dict[str, Any] = {
    "question": "怎么执行?",
    "options": [{"label": "立即执行", "value": "now"}, {"label": "审视后执行", "value": "review"}],
}
FREE: dict[str, Any] = {"question": "Anything else?", "options": []}


def questions(*asked: dict[str, Any]) -> Call:
    return "ask_user", {"questions": list(asked)}


def clarification(*options: str, allow_custom: bool = True) -> Call:
    return "request_clarification", {"question": "Which one?", "options": list(options), "allow_custom": allow_custom}


def decision() -> Call:
    options = [{"key": "go", "label": "Go ahead"}, {"key": "stop", "label": "Leave it"}]
    return "request_decision", {"title": "Deploy?", "description": "It is ready.", "options": options}


def variables(*fields: dict[str, Any]) -> Call:
    return "request_env_vars", {"fields": list(fields)}


KEY: dict[str, Any] = {"name": "API_KEY", "label": "Key", "description": "for the service"}
REGION: dict[str, Any] = {"name": "REGION", "required": False, "sensitive": False}
