"""The texts of this face. Those that its source document gives in English are the same in both languages."""

from collections.abc import Mapping
from typing import Any

from interlock.domain.interrupt_value import whole_text
from interlock.domain.request import RequestKind
from interlock.faces.http.locale import Locale

_TEXTS: Mapping[str, Mapping[Locale, str]] = {
    "connected": {"zh": "已连接", "en": "Connected"},
    "created": {"zh": "会话已创建", "en": "The session was created"},
    "reconnected": {"zh": "会话已恢复", "en": "The session goes on"},
    "thinking": {"zh": "正在思考", "en": "Thinking"},
    "tool_call": {"zh": "调用工具: {tool}", "en": "Calling the tool: {tool}"},
    "confirm": {"zh": "确认执行工具: {tool}", "en": "Confirm running the tool: {tool}"},
    "answer": {"zh": "请回答: {what}", "en": "Please answer: {what}"},
    "provide": {"zh": "请提供: {what}", "en": "Please provide: {what}"},
    "refused": {"zh": "用户拒绝了该操作", "en": "A person refused this"},
    "timed_out": {"zh": "确认请求已超时", "en": "The confirmation has timed out"},
    "retries": {
        "zh": "连续收到无效回复，该确认已被拒绝",
        "en": "Refused: too many replies could not be taken",
    },
    "cancelled": {"zh": "用户取消了会话中的操作", "en": "The user cancelled"},
    "interrupted": {"zh": "已中断", "en": "Interrupted"},
    "session_end": {"zh": "会话已结束", "en": "The session has ended"},
    "not_answered": {"zh": "没有人回答，运行已结束", "en": "Nobody answered, and the run has ended"},
    "busy.paused": {"zh": "会话正在等待确认", "en": "The session waits for a confirmation"},
    "busy.running": {"zh": "会话正在运行", "en": "The session is running"},
    "empty_message": {"zh": "消息不能为空", "en": "The message must not be empty"},
    "confirmation_timeout": dict.fromkeys(("zh", "en"), "User confirmation timeout"),
    "invalid_step_id": dict.fromkeys(("zh", "en"), "Invalid step_id in user response"),
    "session_not_found": dict.fromkeys(("zh", "en"), "Session not found"),
    "invalid_message": {"zh": "消息无效: {detail}", "en": "The message is not valid: {detail}"},
    "forbidden": {"zh": "无权限执行此操作", "en": "This is not yours to do"},
    "conflict": {"zh": "当前状态不允许此操作: {detail}", "en": "This cannot be done now: {detail}"},
    "rate_limited": {"zh": "消息过于频繁，请稍后再试", "en": "Too many messages; slow down"},
    "unavailable": {
        "zh": "数据库暂时不可用，未作任何更改",
        "en": "The database cannot be used right now; nothing was changed",
    },
    "no_worker": {
        "zh": "当前没有可用的执行节点，请求仍在等待，请稍后重试",
        "en": "No worker is available; the request is still pending, please try again later",
    },
    "internal_error": {"zh": "服务器内部错误", "en": "The server failed"},
    "closing": {"zh": "服务器正在关闭，请重新连接", "en": "The server is shutting down; connect again"},
    "revoked": {"zh": "凭证已失效", "en": "The credential no longer holds"},
}


def text(key: str, locale: Locale, **values: Any) -> str:
    return _TEXTS[key][locale].format(**values)


def asking(kind: RequestKind, body: Mapping[str, Any], locale: Locale) -> str:
    """What a person is asked, in one text."""
    match kind:
        case RequestKind.APPROVAL:
            return text("confirm", locale, tool=body["tool_name"])
        case RequestKind.CLARIFICATION:
            return text("answer", locale, what=body["question"])
        case RequestKind.DECISION:
            return text("answer", locale, what=body["title"])
        case RequestKind.QUESTIONS:
            asked = [*filter(None, [whole_text(body)]), *(one["question"] for one in body["questions"])]
            return text("answer", locale, what="\n".join(asked))
        case RequestKind.ENV_VAR:
            return text("provide", locale, what=", ".join(field["name"] for field in body["fields"]))


def described(kind: RequestKind, body: Mapping[str, Any], locale: Locale) -> str:
    """What it is about, for clients that show a tool with its description."""
    if kind is RequestKind.APPROVAL:
        return whole_text(body, body["description"] or body["tool_display_name"])
    if kind is RequestKind.DECISION:
        return body["description"] or body["title"]
    return asking(kind, body, locale)
