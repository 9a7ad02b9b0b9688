"""The texts of this face, in Chinese and in English."""

from collections.abc import Mapping
from typing import Any

from interlock.faces.http.locale import Locale
from interlock_client.sessions import SYSTEM_MESSAGE

_TEXTS: Mapping[str, Mapping[Locale, str]] = {
    "system_message": {
        "zh": SYSTEM_MESSAGE,
        "en": "You use tools to help the user. Where the use of a tool is refused, tell the user so.",
    },
    "error": {"zh": "处理请求时出错: {what}", "en": "The request could not be handled: {what}"},
    "stopped": {"zh": "运行已停止", "en": "the run was stopped"},
    "not_answered": {"zh": "没有人回答，运行已结束", "en": "nobody answered, and the run has ended"},
    "gone": {"zh": "会话已删除", "en": "the session was deleted"},
    "deleted": {"zh": "用户 {user} 的会话已删除", "en": "The session of user {user} was deleted"},
    "no_session": {"zh": "用户会话 {user} 不存在", "en": "There is no session of user {user}"},
    "no_request": {"zh": "该会话没有请求 {request_id}", "en": "There is no request {request_id} in this session"},
    "wrong_session": {
        "zh": "会话ID不匹配，可能是过期的请求",
        "en": "The session id does not match; the request may be an old one",
    },
    "not_interrupted": {
        "zh": "会话当前状态为 {state}，无法恢复非中断状态的会话",
        "en": "The session is {state}: only an interrupted one can be resumed",
    },
    "busy": {
        "zh": "会话当前状态为 {state}，无法开始新的调用",
        "en": "The session is {state}: it takes no new query now",
    },
    "already_settled": {"zh": "该请求已被处理", "en": "The request has been settled already"},
    "not_shown": {
        "zh": "该回复发送时，当前问题尚未展示，未作处理",
        "en": "The reply was sent before the present question was shown, and was not used",
    },
    "invalid_answer": {"zh": "回复无效: {what}", "en": "The reply does not fit: {what}"},
    "forbidden": {"zh": "只能访问自己的会话", "en": "A session is its user's own"},
    "closing": {
        "zh": "服务器正在关闭，运行将在重启后继续，请稍后查询会话状态",
        "en": "The server is shutting down; the run goes on after the restart, and the session's status tells of it",
    },
    "no_worker": {
        "zh": "当前没有可用的执行节点，请求仍在等待，请稍后重试",
        "en": "No worker is available; the request is still pending, please try again later",
    },
    "unavailable": {
        "zh": "数据库暂时不可用，请稍后查询会话状态",
        "en": "The database cannot be used right now; the session's status tells what came of it",
    },
}


def text(key: str, locale: Locale, **values: Any) -> str:
    return _TEXTS[key][locale].format(**values)
