"""The texts of this face, in Chinese and in English."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from interlock.domain.asks import CUSTOM
from interlock.domain.interrupt_value import whole_text
from interlock.domain.request import RequestKind
from interlock.faces.http.locale import Locale

Option = dict[str, Any]
Question = dict[str, Any]

_TEXTS: Mapping[str, Mapping[Locale, str]] = {
    "continue": {"zh": "继续", "en": "Continue"},
    "cancel": {"zh": "取消", "en": "Cancel"},
    "custom": {"zh": "自定义", "en": "Custom"},
    "questions": {"zh": "Agent 提出了 {count} 个问题", "en": "The agent asks {count} question(s)"},
    "asking": {"zh": "用户问答", "en": "Questions"},
    "execute": {"zh": "正在执行命令: {what}", "en": "Running a command: {what}"},
    "write_file": {"zh": "正在写入文件: {what}", "en": "Writing a file: {what}"},
    "other": {"zh": "正在执行操作: {what}", "en": "Running: {what}"},
    "task.execute": {"zh": "执行命令", "en": "Run a command"},
    "task.write_file": {"zh": "写入文件", "en": "Write a file"},
    "busy.paused": {"zh": "对话正在等待回答", "en": "The conversation waits for an answer"},
    "busy.running": {"zh": "对话正在运行", "en": "The conversation is running"},
    "nothing_pending": {"zh": "没有待处理的请求", "en": "Nothing is pending"},
    "already_settled": {"zh": "该请求已被处理", "en": "The request has been settled already"},
    "not_shown": {
        "zh": "该回复发送时，当前问题尚未展示，未作处理",
        "en": "The reply was sent before the present question was shown, and was not used",
    },
    "refused": {"zh": "用户拒绝了该操作", "en": "A person refused this"},
    "not_answered": {"zh": "没有人回答，运行已结束", "en": "Nobody answered, and the run has ended"},
    "deleted": {"zh": "对话已删除", "en": "The conversation was deleted"},
    "closing": {
        "zh": "服务器正在关闭，运行将在重启后继续",
        "en": "The server is shutting down; the run goes on after the restart",
    },
    "unavailable": {
        "zh": "数据库暂时不可用，请重新连接",
        "en": "The database cannot be used right now; connect again",
    },
    "revoked": {"zh": "凭证已失效", "en": "The credential no longer holds"},
    "registered": {"zh": "注册成功", "en": "Registered"},
}


def text(key: str, locale: Locale, **values: Any) -> str:
    return _TEXTS[key][locale].format(**values)


def info(kind: RequestKind, body: Mapping[str, Any], locale: Locale) -> str:
    """What is about to happen, or how much is asked, in one line."""
    if kind is not RequestKind.APPROVAL:
        return text("questions", locale, count=len(questions(kind, body, locale) or ()))
    tool, args = body["tool_name"], body["args"]
    if tool == "execute" and isinstance(args.get("command"), str):
        return text("execute", locale, what=args["command"])
    path = args.get("path", args.get("file_path"))
    if tool == "write_file" and isinstance(path, str):
        return text("write_file", locale, what=PurePath(path).name)
    return text("other", locale, what=tool)


def task_name(kind: RequestKind, body: Mapping[str, Any], locale: Locale) -> str:
    if kind is not RequestKind.APPROVAL:
        return text("asking", locale)
    key = f"task.{body['tool_name']}"
    return text(key, locale) if key in _TEXTS else body["tool_display_name"]


def approval_options(locale: Locale) -> list[Option]:
    return [{"label": text(value, locale), "value": value} for value in ("continue", "cancel")]


def questions(kind: RequestKind, body: Mapping[str, Any], locale: Locale) -> list[Question] | None:
    """Everything but an approval, as questions with options."""
    match kind:
        case RequestKind.APPROVAL:
            return None
        case RequestKind.QUESTIONS:
            return _questions(body)
        case RequestKind.CLARIFICATION:
            return [_clarification(body, locale)]
        case RequestKind.DECISION:
            asked = "\n".join(part for part in (body["title"], body["description"]) if part)
            options = [{"label": option["label"], "value": option["key"]} for option in body["options"]]
            return [{"question": asked, "options": options}]
        case RequestKind.ENV_VAR:
            return [_variable(field) for field in body["fields"]]


def _questions(body: Mapping[str, Any]) -> list[Question]:
    """The first one says what they are about, where a graph handed over more than questions."""
    first, *rest = body["questions"]
    return [{**first, "question": "\n\n".join(part for part in (whole_text(body), first["question"]) if part)}, *rest]


def _clarification(body: Mapping[str, Any], locale: Locale) -> Question:
    options: list[Option] = [{"label": option, "value": option} for option in body["options"]]
    if options and body["allow_custom"]:
        options.append({"label": text("custom", locale), "value": CUSTOM, "allow_custom": True})
    return {"question": body["question"], "options": options}


def _variable(field: Mapping[str, Any]) -> Question:
    label = field["label"] or field["name"]
    asked = f"{label}: {field['description']}" if field["description"] else label
    return {
        "question": asked,
        "options": [],
        "name": field["name"],
        "required": field["required"],
        "sensitive": field["sensitive"],
    }
