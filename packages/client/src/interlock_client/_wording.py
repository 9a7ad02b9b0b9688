"""What confirmation handlers say to their person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]

TEXTS: Mapping[str, Mapping[Language, str]] = {
    "title": {"zh": "工具执行确认", "en": "Confirm a tool"},
    "asked": {"zh": "Agent 提问", "en": "The agent asks"},
    "message": {"zh": "消息", "en": "Message"},
    "tool": {"zh": "工具", "en": "Tool"},
    "description": {"zh": "描述", "en": "Description"},
    "arguments": {"zh": "参数", "en": "Arguments"},
    "risk": {"zh": "风险", "en": "Risk"},
    "confirm?": {"zh": "是否确认执行? (y/n): ", "en": "Run it? (y/n): "},
    "y or n": {"zh": "请输入 'y' 或 'n'", "en": "Type 'y' or 'n'"},
    "type name?": {
        "zh": "高风险操作: 输入工具名 {name} 以确认, 或输入 n 拒绝: ",
        "en": "This is of high risk: type the tool's name, {name}, to run it, or n to refuse: ",
    },
    "name or n": {"zh": "请输入 {name} 或 'n'", "en": "Type {name} or 'n'"},
    "type name": {"zh": "高风险操作: 输入工具名 {name} 以确认", "en": "High risk: type the tool's name, {name}"},
    "confirmed": {"zh": "用户确认执行", "en": "Confirmed by the user"},
    "refused": {"zh": "用户拒绝执行", "en": "Refused by the user"},
    "run": {"zh": "确认执行", "en": "Run it"},
    "cancel": {"zh": "取消", "en": "Cancel"},
    "send": {"zh": "提交", "en": "Send"},
    "number or text": {"zh": "编号或文字", "en": "a number, or your own words"},
    "number": {"zh": "编号", "en": "a number"},
    "not offered": {"zh": "请从选项中选择", "en": "Choose one of the options"},
    "required": {"zh": "此项必填", "en": "This one is required"},
    "decline": {"zh": "输入 {word} 不作答", "en": "Type {word} to give no answer"},
    "other line": {
        "zh": "上一个问题已结束, 正在输入的一行不会被采用; 请先按回车。",
        "en": "The question before is over, and the line being typed is not taken; press Enter first.",
    },
    "closed": {"zh": "终端输入已关闭, 请求仍在等待", "en": "The terminal's input is closed; the request still waits"},
    "timed_out": {"zh": "确认请求已超时 ({seconds}秒)", "en": "The confirmation timed out ({seconds} s)"},
    "session_expired": {"zh": "会话已过期，请重新连接", "en": "The session has expired; connect again"},
    "connection_lost": {"zh": "连接已断开: {detail}", "en": "The connection is lost: {detail}"},
}


@dataclass(frozen=True, slots=True)
class Wording:
    language: Language

    @classmethod
    def of(cls, locale: str | None) -> "Wording":
        return cls("zh" if not locale or locale.lower().startswith("zh") else "en")

    def text(self, key: str, **values: str) -> str:
        return TEXTS[key][self.language].format(**values)
