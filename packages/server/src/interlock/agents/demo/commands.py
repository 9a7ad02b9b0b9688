"""The commands of the scripted model: how each begins in English and in Chinese, and which tool calls it makes.

Patterns are tried at many places of a text that anybody may send: none of them has two repetitions that could divide
the same characters between them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from interlock.agents.demo import asks
from interlock.texts import Locale, demo_text

Missing = Literal["file", "command", "edit"]


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    args: Mapping[str, Any]

    @property
    def path(self) -> str | None:
        return self.args.get("path")


@dataclass(frozen=True, slots=True)
class Clause:
    """One command as it was written, without the words that it begins with."""

    rest: str
    language: Locale
    last_path: str | None
    """What "it" means."""


@dataclass(frozen=True, slots=True)
class Command:
    tool: str
    begins: re.Pattern[str]
    read: Callable[[Clause], list[Mapping[str, Any]]]
    """The arguments of each call; none when the clause lacks something."""
    missing: Missing | None = None
    """What to ask for then."""


_QUOTED = r"""```.*?```|`[^`\n]+`|"[^"\n]+"|(?<!\w)'[^'\n]+'|“[^”\n]+”|「[^」\n]+」"""
_HIDDEN = re.compile(_QUOTED, re.DOTALL)
_FILE = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?:called|named|名为|叫)\s*+(?P<named>[\w.+@/-]+?)(?=的|\s|$)"
    r"|(?P<chinese>[\u4e00-\u9fff]*+)(?P<name>[A-Za-z0-9_~.+@/-]+)"
)
_PATH = re.compile(r"\.\w|/.|./|\.\.$|(?:makefile|dockerfile|license|readme)$", re.IGNORECASE)
_BEFORE_A_NAME = re.compile(r"^(?:一个|这个|那个|个|新的|文件|和|与|跟|一下)+")
_IT = re.compile(r"\b(?:it|(?:that|this) (?:file|one))\b|它|[这该那]个?文件", re.IGNORECASE)
_CONTENT = re.compile(
    r"\b(?:with|containing|saying)\b(?:\s++(?:contents?|text)\b)?\s*+:?"
    r"|(?:内容|文字)[为是]?\s*+[:：]?|里面?写[入上]?\s*+[:：]?|[:：]",
    re.IGNORECASE,
)
_INTO = re.compile(r"\s(?:to|into)\s|写[入到]|保存到", re.IGNORECASE)
_SWAP = re.compile(r"\s(?:with|by|to|into)\s|改[成为]|替换[成为]|换[成为]|->|→", re.IGNORECASE)
_INSIDE = re.compile(
    r"^\s*+(?:文件)?(?:里面?|中)?的?[\s,，:：]*+(?:and\s++)?(?:replace\b|change\b|把|将)?", re.IGNORECASE
)
_COMMAND_NOUN = re.compile(r"^(?:(?:(?:the|this|a)\s++)?command\b|命令)?\s*+[:：]?", re.IGNORECASE)
_NO_COMMAND = re.compile(r"(?:the|a|an|my|your|some|all|this|that|it|me)\b(?!\.)", re.IGNORECASE)
_END = re.compile(r"(?:,?\s*+please|吧|一下)?[。！？]*+$", re.IGNORECASE)
_COUNTS = {"one": 1, "a": 1, "two": 2, "一": 1, "两": 2, "二": 2, "1": 1, "2": 2}
_COUNTED = re.compile(r"\b(one|a|two|[12])\b|([一两二12])\s?个", re.IGNORECASE)
_INTERPRETERS = {"py": "python3", "sh": "sh", "js": "node"}
_NEW_FILES = {
    "py": 'print("{hello}")\n',
    "js": 'console.log("{hello}");\n',
    "sh": '#!/bin/sh\necho "{hello}"\n',
    "json": "{{}}\n",
    "md": "# {stem}\n\n{made_by}\n",
    "html": "<!doctype html>\n<title>{stem}</title>\n<h1>{hello}</h1>\n",
}


def hide_quotes(text: str) -> str:
    """The text with what is quoted made unreadable, so that no word in it counts; of the same length."""
    return _HIDDEN.sub(lambda match: "\ue000" * len(match[0]), text)


def _split(text: str, at: re.Pattern[str]) -> tuple[str, str]:
    """What stands before and after the first match; the second is empty where there is none."""
    match = at.search(hide_quotes(text))
    return (text[: match.start()].strip(), text[match.end() :].strip()) if match else (text, "")


def _unquote(text: str) -> str:
    if not _HIDDEN.fullmatch(text):
        return text
    return text[3:-3].partition("\n")[2].rstrip("\n") + "\n" if text.startswith("```") else text[1:-1]


def _files(text: str, last_path: str | None = None) -> dict[str, int]:
    """The paths in a text, with where each ends; what "it" means where there is none."""
    found: dict[str, int] = {}
    for match in _FILE.finditer(text):
        name = (match["name"] or "").rstrip("." if not (match["name"] or "").endswith("..") else "")
        if name.startswith("."):
            # A Chinese name runs into the words before it: 一个笔记.txt
            name = _BEFORE_A_NAME.sub("", match["chinese"]) + name
        path = match["named"] or (match["quoted"] or "")[1:-1] or (name if _PATH.search(name) else "")
        if path:
            found.setdefault(path, match.end())
    return found or ({last_path: 0} if last_path and _IT.search(text) else {})


def _each_file(clause: Clause) -> list[Mapping[str, Any]]:
    return [{"path": path} for path in _files(clause.rest, clause.last_path)]


def _folder(clause: Clause) -> list[Mapping[str, Any]]:
    return [{"path": next(iter(_files(clause.rest)), ".")}]


def _write(clause: Clause) -> list[Mapping[str, Any]]:
    before, content = _split(clause.rest, _CONTENT)
    if content:
        files = _files(before, clause.last_path)
        if not files:  # 创建一个内容为 hi 的 a.txt 文件
            content, _, last = content.rpartition("的")
            files = _files(last)
        return [{"path": path, "content": _unquote(content.strip())} for path in files]
    content, last = _split(clause.rest, _INTO)
    if last and _files(last, clause.last_path):
        return [{"path": path, "content": _unquote(content)} for path in _files(last, clause.last_path)]
    return [{"path": path, "content": _new_file(path, clause.language)} for path in _files(clause.rest)]


def _new_file(path: str, language: Locale) -> str:
    stem, _, ending = path.rstrip("/").rpartition("/")[2].rpartition(".")
    hello, made_by = demo_text("hello", language), demo_text("made_by", language)
    return _NEW_FILES.get(ending.lower(), "{hello}\n").format(stem=stem, hello=hello, made_by=made_by)


def _edit(clause: Clause) -> list[Mapping[str, Any]]:
    old, new = _split(clause.rest, _SWAP)
    head, _, last = new.rpartition(" in ")
    if head and (files := _files(last, clause.last_path)):
        new = head
    elif new and (files := _files(old)):
        old = _INSIDE.sub("", old[next(iter(files.values())) :]).strip()
    else:
        return []
    return [{"path": next(iter(files)), "old": _unquote(old), "new": _unquote(new)}] if old else []


def _execute(clause: Clause) -> list[Mapping[str, Any]]:
    rest = _COMMAND_NOUN.sub("", clause.rest).strip()
    if rest.startswith("`") and not rest.startswith("```"):
        return [{"command": command} for command in re.findall(r"`([^`\n]+)`", rest)]
    # A full stop ends the sentence when it follows a word; in "ls ." and "cd .." it belongs to the command.
    command = re.sub(r"(?<=[A-Za-z0-9])\.$", "", _unquote(_END.sub("", rest, count=1))).strip()
    if clause.last_path and _IT.fullmatch(command):
        command = clause.last_path
    if not re.search(r"[A-Za-z0-9./]", command) or _NO_COMMAND.match(command):
        return []
    script = re.fullmatch(r"[\w./-]+\.(\w+)", command)
    interpreter = _INTERPRETERS.get(script[1]) if script else None
    return [{"command": f"{interpreter} {command}" if interpreter else command}]


def _questions(clause: Clause) -> list[Mapping[str, Any]]:
    count_match = _COUNTED.search(clause.rest)
    return [asks.questions(clause.language, _COUNTS[(count_match[1] or count_match[2]).lower()] if count_match else 3)]


def _env_vars(clause: Clause) -> list[Mapping[str, Any]]:
    names = re.findall(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)+", clause.rest)
    return [asks.env_vars(clause.language, list(dict.fromkeys(names)))]


def _command(
    tool: str, en: str, zh: str, read: Callable[[Clause], list[Mapping[str, Any]]], missing: Missing | None = None
) -> Command:
    return Command(tool, re.compile(rf"(?:{en})(?![\w-])|(?:{zh})", re.IGNORECASE | re.DOTALL), read, missing)


# The first that makes calls wins, so the more exact ones stand first.
COMMANDS: tuple[Command, ...] = (
    _command(
        "list_files",
        r"(?:list|show|what|which)(?:\s(?:me|all|the|my))*+\s(?:files|folder)|(?:ls|dir)$",
        r"列出|(?:查看|看看|显示)(?:所有|全部)?文件$|有哪些文件",
        _folder,
    ),
    _command(
        "edit_file",
        r"edit|replace|change|modify",
        r"编辑|修改|替换|[把将](?=.*(?:改[成为]|换[成为]))",
        _edit,
        "edit",
    ),
    _command(
        "write_file",
        r"create|make|write|add|new|save",
        r"创建|新建|生成|写|[把将](?=.*(?:写[入到]|保存到))|在(?=.*写)",
        _write,
        "file",
    ),
    _command("delete_file", r"delete|remove|rm", r"删[除掉]|移除|[把将](?=.*(?:删[除掉]))", _each_file, "file"),
    _command("execute", r"run|execute", r"运行|执行|\$\s", _execute, "command"),
    _command(
        "read_file",
        r"show|read|open|cat|view|what(?:'s|\sis)\sin",
        r"查看|显示|读取?|打开|看看?|(?=\S++\s?[里的](?:写了什么|内容))",
        _each_file,
        "file",
    ),
    _command(
        "request_env_vars",
        r"(?:(?:i\s)?(?:need|want|set|enter)|ask\s(?:me\s)?for)(?=.*(?:\b(?:key|token|secret|password)|_[A-Z]))",
        r"(?:我?需要|[问向]我索?要)(?=.*(?:密钥|令牌|密码|key|_[A-Z]))|密钥",
        _env_vars,
    ),
    _command("ask_user", r"ask\sme", r"问我|向我提问", _questions),
    _command("request_clarification", r"clarify", r"澄清", lambda clause: [asks.clarification(clause.language)]),
    _command("request_decision", r"decide|decision", r"决定|决策", lambda clause: [asks.decision(clause.language)]),
)


def calls_of(text: str, language: Locale, last_path: str | None) -> tuple[Call, ...]:
    """The calls that one clause asks for; none when it is no command, or lacks something."""
    for command in COMMANDS:
        if match := command.begins.match(text):
            clause = Clause(text[match.end() :].strip(), language, last_path)
            if found := command.read(clause):
                return tuple(Call(command.tool, args) for args in found)
    return ()


def find_missing(text: str) -> Missing | None:
    """What a clause that begins like a command lacks."""
    return next((command.missing for command in COMMANDS if command.missing and command.begins.match(text)), None)
