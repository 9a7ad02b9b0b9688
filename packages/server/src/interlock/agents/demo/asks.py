"""What the scripted model asks a person: the arguments of the four ask tools, in both languages."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Language = Literal["zh", "en"]
Args = dict[str, Any]


def _options(custom: str, *pairs: tuple[str, str]) -> list[Args]:
    offered: list[Args] = [{"label": label, "value": value} for label, value in pairs]
    return [*offered, {"label": custom, "value": "__custom__", "allow_custom": True}]


_QUESTIONS: Mapping[Language, Sequence[Args]] = {
    "zh": (
        {
            "question": "你喜欢什么颜色?",
            "options": _options("自定义", ("红色", "red"), ("绿色", "green"), ("蓝色", "blue")),
        },
        {"question": "你喜欢什么动物?", "options": _options("自定义", ("狗", "dog"), ("猫", "cat"))},
        {"question": "怎么执行?", "options": _options("自定义", ("立即执行", "now"), ("审视后执行", "review"))},
    ),
    "en": (
        {
            "question": "Which colour do you like?",
            "options": _options("Something else", ("Red", "red"), ("Green", "green"), ("Blue", "blue")),
        },
        {
            "question": "Which animal do you like?",
            "options": _options("Something else", ("Dog", "dog"), ("Cat", "cat")),
        },
        {
            "question": "How shall I go about it?",
            "options": _options("Something else", ("Right away", "now"), ("After a review", "review")),
        },
    ),
}

_CLARIFICATION: Mapping[Language, Args] = {
    "zh": {
        "question": "你想先在哪个环境里试?",
        "options": ["开发环境", "测试环境", "生产环境"],
        "allow_custom": True,
    },
    "en": {
        "question": "Which environment shall I try first?",
        "options": ["Development", "Staging", "Production"],
        "allow_custom": True,
    },
}

_DECISION: Mapping[Language, Args] = {
    "zh": {
        "title": "怎样发布新版本?",
        "description": "新版本已经就绪, 发布方式由你来定。",
        "options": [
            {"key": "gradual", "label": "逐步发布", "style": "primary"},
            {"key": "all", "label": "一次全部发布", "style": "danger"},
            {"key": "wait", "label": "先不发布", "style": "default"},
        ],
        "risks": ["一次全部发布: 出了问题会影响所有用户", "逐步发布: 两个版本会同时运行一段时间"],
    },
    "en": {
        "title": "How shall the new version go out?",
        "description": "The new version is ready. How it goes out is yours to decide.",
        "options": [
            {"key": "gradual", "label": "Step by step", "style": "primary"},
            {"key": "all", "label": "To everybody at once", "style": "danger"},
            {"key": "wait", "label": "Not yet", "style": "default"},
        ],
        "risks": ["At once: a fault reaches every user", "Step by step: two versions run side by side for a while"],
    },
}

_KEY_NOTE: Mapping[Language, str] = {
    "zh": "演示用, 随便填一个值就行。我只会知道它的名字, 看不到它的值。",
    "en": "For the demo; any value will do. I only learn its name, never its value.",
}

DEFAULT_KEY = "DEMO_API_KEY"
MOST_QUESTIONS = len(_QUESTIONS["en"])


def questions(language: Language, count: int = MOST_QUESTIONS) -> Args:
    return {"questions": list(_QUESTIONS[language][:count])}


def clarification(language: Language) -> Args:
    return dict(_CLARIFICATION[language])


def decision(language: Language) -> Args:
    return dict(_DECISION[language])


def env_vars(language: Language, names: Sequence[str] = ()) -> Args:
    note = _KEY_NOTE[language]
    return {
        "fields": [
            {"name": name, "label": name, "required": True, "sensitive": True, "description": note}
            for name in names or (DEFAULT_KEY,)
        ]
    }
