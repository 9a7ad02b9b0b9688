"""The texts of this face. Those that its source document gives in English are the same in both languages."""

from collections.abc import Mapping

from interlock.faces.http.locale import Locale

_TEXTS: Mapping[str, Mapping[Locale, str]] = {
    "completed": dict.fromkeys(("zh", "en"), "Operation completed successfully"),
    "submitted": dict.fromkeys(("zh", "en"), "Response submitted successfully"),
    "not_found": dict.fromkeys(("zh", "en"), "HITL request not found"),
    "not_pending": dict.fromkeys(("zh", "en"), "HITL request is not in pending status"),
    "expired": {"zh": "请求已超时，未作处理", "en": "The request has expired, and nothing was changed"},
    "invalid": {"zh": "请求格式无效: {detail}", "en": "The request is not valid: {detail}"},
    "unauthorized": {"zh": "未授权访问: 缺少凭证或凭证无效", "en": "No credential, or one that does not hold"},
    "forbidden": {"zh": "无权限操作此请求", "en": "This is not yours to see or to do"},
    "key_reused": {
        "zh": "该 Idempotency-Key 已用于另一个请求体，请换用新的值",
        "en": "This Idempotency-Key came before with another body; use a new one",
    },
    "conflict": {"zh": "当前状态不允许此操作: {detail}", "en": "This cannot be done now: {detail}"},
    "rate_limited": {"zh": "请求过于频繁，请稍后再试", "en": "Too many requests; slow down"},
    "too_many_open": {
        "zh": "待处理的请求过多，请先处理其中一部分再试: {detail}",
        "en": "Too many requests wait already: {detail}",
    },
    "no_worker": {
        "zh": "当前没有可用的执行节点，请求仍在等待，请稍后重试",
        "en": "No worker is available; the request is still pending, please try again later",
    },
    "unavailable": {
        "zh": "数据库暂时不可用，未作任何更改",
        "en": "The database cannot be used right now; nothing was changed",
    },
    "internal": {"zh": "服务器内部错误", "en": "The server failed"},
    "no_route": {"zh": "没有这个地址", "en": "There is nothing at this address"},
    "no_method": {"zh": "该地址不支持此方法", "en": "This address does not take this method"},
    "too_large": {"zh": "请求体过大", "en": "The body is too large"},
    "closing": {"zh": "服务器正在关闭，请重新连接", "en": "The server is shutting down; connect again"},
    "revoked": {"zh": "凭证已失效", "en": "The credential no longer holds"},
    "cancelled": {"zh": "请求已取消", "en": "The request was cancelled"},
    "asked": {"zh": "请求已发起", "en": "The request was asked"},
}


def text(key: str, locale: Locale, **values: str) -> str:
    return _TEXTS[key][locale].format(**values)
