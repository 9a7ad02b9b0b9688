"""How a clause of what a person said begins, and which tool calls it then asks for.

The first rule that gives calls wins, so the more exact ones stand first. Blanks are matched possessively and captured
texts begin with a letter: else a long run of blanks could be divided in so many ways that it would stop the server.
"""

import re
from dataclasses import dataclass
from typing import Literal

from interlock.agents.demo import builders
from interlock.agents.demo.builders import Build, Calls, Context

Missing = Literal["file", "command", "edit"]


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    build: Build
    missing: Missing | None = None
    """What to ask for when a clause begins like this and no rule makes a call of it."""


def _rule(pattern: str, build: Build, missing: Missing | None = None) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE | re.DOTALL), build, missing)


_SWAP = r"(?:replace|change)\s++(?P<old>\S.*?)\s(?:with|by|to|into)\s++"
_SWAP_ZH = r"(?P<old>\S.*?)(?:改成|改为|替换为|替换成|换成|换为)\s*+(?P<new>\S.*)"
_PATH = r"(?P<path>\S{1,200}?)"
_GAP = r"[\s:：,，]++"
_END = r"[.。]?$"
_INSIDE_ZH = r"\s?(?:文件)?(?:里面|里边|当中|里|中)"

_EDIT = (
    _rule(
        rf"(?:edit|change|modify|update)\s++(?:the\s++)?(?:file\s++)?{_PATH}{_GAP}(?:and\s++)?{_SWAP}(?P<new>\S.*)",
        builders.edit,
    ),
    _rule(rf"{_SWAP}(?P<new>\S.*?)\sin\s++(?:the\s++)?(?:file\s++)?{_PATH}{_END}", builders.edit),
    _rule(rf"in\s++(?:the\s++)?(?:file\s++)?{_PATH}{_GAP}{_SWAP}(?P<new>\S.*)", builders.edit),
    _rule(
        rf"(?:编辑|修改|更改|改)(?:一下)?(?:文件)?\s*+(?P<path>[^\s,，:：]{{1,200}}?)(?:文件)?{_GAP}"
        rf"(?:把|将)?(?:里面的|其中的|里的|中的)?\s*+{_SWAP_ZH}",
        builders.edit,
    ),
    _rule(rf"(?:把|将|在)\s*+(?P<path>\S.{{0,200}}?){_INSIDE_ZH}的?[,，]?\s*+(?:把|将)?\s*+{_SWAP_ZH}", builders.edit),
    _rule(
        rf"(?:edit|change|modify|编辑|修改)\s*+(?P<path>[^\s:：,，]+){_GAP}(?P<old>\S.*?)(?:->|=>|→)\s*+(?P<new>\S.*)",
        builders.edit,
    ),
    _rule(r"(?:edit|modify|update)\b(?=.*(?:\.\w|\bfile\b))|(?:编辑|修改|更改)", builders.nothing, "edit"),
)

_WRITE = (
    _rule(
        r"(?:write|save|put)\s++(?P<content>\S.*?)\s(?:to|into|in)\s++(?:(?:a|the)\s++)?(?:new\s++)?(?:file\s++)?"
        rf"(?:called\s++|named\s++)?{_PATH}{_END}",
        builders.write,
    ),
    _rule(
        r"(?:把|将)\s*+(?P<content>\S.*?)(?:写入|写到|写进|保存到|存到|存入)\s*+(?:文件)?\s*+"
        rf"{_PATH}\s?(?:文件)?(?:里面|里|中)?{_END}",
        builders.write,
    ),
    _rule(rf"(?:在|往)\s*+{_PATH}{_INSIDE_ZH}?\s*+(?:写入|写上|写)\s*+[:：]?\s*+(?P<content>\S.*)", builders.write),
    _rule(
        r"(?:创建|新建|写|生成)(?:一个|个)?(?:内容|文字)(?:为|是)\s*+(?P<content>\S.*?)的\s*+(?:文件)?\s*+"
        rf"{_PATH}\s?(?:文件)?{_END}",
        builders.write,
    ),
    _rule(
        r"(?:(?:create|make|write|add|new|touch|generate)(?![a-z])"
        r"|创建|新建|新增|建立|建一?个|建|生成|添加|写入|写一?个|写|做一?个)\s*+(?P<rest>\S.*)",
        builders.create,
        "file",
    ),
)

_LIST = (
    _rule(
        r"(?:ls|dir)$|(?:list|show|display|see)\s++(?:me\s++)?(?:all\s++)?(?:of\s++)?(?:the\s++|my\s++)?"
        r"(?:files|folders?|directory|workspace)\b(?P<rest>.*)",
        builders.list_folder,
    ),
    _rule(r"(?:what|which)\s++files\b(?P<rest>.*)", builders.list_folder),
    _rule(r"what(?:'s|\s++is)\s++in\s++(?:the|this|my|your)\s++(?:folder|workspace|directory)", builders.list_folder),
    _rule(
        r"(?:列出|列一下|列|查看|看看|看一下|显示)\s*+(?:当前|这里|工作区|目录)?(?:里面|里|中|下)?的?"
        r"(?:所有|全部)?的?文件(?:列表)?[。？?]?$",
        builders.list_folder,
    ),
    _rule(
        r"(?:列出|列一下|列|查看|看看|看一下|显示)\s*+(?P<rest>[^，。\s]*)\s*+(?:文件夹|目录|工作区)"
        r"(?:里面|里|中|下)?的?(?:文件|内容|列表)?[。？?]?$",
        builders.list_folder,
    ),
    _rule(r"(?P<rest>.{0,12})(?:有哪些|有什么|有啥)文件", builders.list_folder),
)

_DELETE = (
    _rule(
        r"(?:(?:delete|remove|rm|erase)(?![a-z])|删除|删掉|删了|删|移除)\s*+(?P<rest>.*)",
        builders.each("delete_file"),
        "file",
    ),
    _rule(
        r"(?:把|将)\s*+(?P<rest>\S.*?)(?:文件)?\s*+(?:给)?(?:删除|删掉|删了|移除)", builders.each("delete_file"), "file"
    ),
)

_RUN = (
    _rule(
        r"(?:(?:run|execute|exec)(?![a-z])|运行一下|执行一下|跑一下|运行|执行|跑)\s*+"
        r"(?:(?:the\s++|this\s++|a\s++)?(?:shell\s++)?command\b|命令)?\s*+[:：]?\s*+(?P<rest>.*)",
        builders.run_command,
        "command",
    ),
    _rule(r"\$\s++(?P<rest>\S.*)", builders.run_command),
)

_SHOW = (
    _rule(
        r"(?:(?:show|read|open|cat|display|view|print|see)(?![a-z])|查看|显示|读取|读一下|读|打开|看看|看一下|看)"
        r"\s*+(?P<rest>\S.*)",
        builders.each("read_file"),
        "file",
    ),
    _rule(r"what(?:'s|\s++is)\s++(?:in|inside)\s++(?P<rest>\S.*)", builders.each("read_file")),
    _rule(
        r"(?P<rest>\S.*?)(?:文件)?(?:里面|里|中)?(?:有什么|写了什么|是什么内容|的内容是什么|的内容)[?？。]?$",
        builders.each("read_file"),
    ),
)

TOOL_RULES: tuple[Rule, ...] = (*_EDIT, *_LIST, *_WRITE, *_DELETE, *_RUN, *_SHOW)

ASK_RULES: tuple[Rule, ...] = (
    _rule(
        r"\bask\s+(?:me|us)\b.*\bquestions?\b|\bask\s+(?:me|us)\s+(?:something|anything)\b"
        r"|\bquestions?\s+for\s+me\b|\bquiz\s+me\b",
        builders.ask_questions,
    ),
    _rule(r"(?:问|提)我?.{0,6}问题|向我提问|考考我|问我", builders.ask_questions),
    _rule(r"\bclarif\w*|澄清|问清楚|弄清楚", builders.clarify),
    _rule(
        r"\b(?:decide|decisions?|help\s+me\s+choose|make\s+a\s+choice)\b|决定|决策|抉择|拿主意|帮我选",
        builders.decide,
    ),
    _rule(
        r"\bapi[\s_-]*keys?\b|[A-Z0-9]_(?:key|token|secret|password)\b|\benv(?:ironment)?\s*var\w*|\b(?:needs?|want|give|provide|enter|set|ask)\b.*"
        r"\b(?:keys?|secrets?|tokens?|credentials?|passwords?)\b",
        builders.need_key,
    ),
    _rule(r"密钥|秘钥|api\s*key|令牌|口令|环境变量|凭证", builders.need_key),
)


def calls_of(clause: str, context: Context, *, anywhere: bool = False) -> Calls | None:
    """The calls that a clause asks for. An ask may stand `anywhere` in it; by itself it must begin it."""
    for rule in TOOL_RULES:
        if (match := rule.pattern.match(clause)) and (calls := rule.build(match, context)):
            return calls
    for rule in ASK_RULES:
        match = rule.pattern.search(clause) if anywhere else rule.pattern.match(clause)
        if match and (calls := rule.build(match, context)):
            return calls
    return None


def missing_in(clause: str) -> Missing | None:
    """What a clause that began like a command left out."""
    return next((rule.missing for rule in TOOL_RULES if rule.missing and rule.pattern.match(clause)), None)
