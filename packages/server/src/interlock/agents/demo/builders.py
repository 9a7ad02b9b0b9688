"""Making tool calls of a clause that a rule of the grammar has matched.

A builder gives None when the clause lacks what the tool needs; another rule may then fit better.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.agents.demo import asks
from interlock.agents.demo.asks import Language
from interlock.agents.demo.paths import Mention, base_name, mentions


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    args: Mapping[str, Any]

    @property
    def path(self) -> str | None:
        return self.args.get("path")


@dataclass(frozen=True, slots=True)
class Context:
    language: Language
    last_path: str | None = None
    """What "it" means."""


Calls = tuple[Call, ...]
Build = Callable[[re.Match[str], Context], Calls | None]


_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "「": "」", "‘": "’"}
_FENCE = re.compile(r"^```[^\n`]*\n(?P<body>.*?)\n?```\s*$", re.DOTALL)
_PRONOUN = re.compile(r"(?:\b(?:it|that file|this file|that one)\b|它|这个文件|该文件|那个文件)", re.IGNORECASE)
_CONTENT_MARK = re.compile(
    r"\s*+(?:,|，|的)?\s*+(?:"
    r"\bwith\s++(?:(?:the|this)\s++)?(?:contents?|text|code|body|words?|lines?)\b(?:\s++(?:is|of))?\s*+[:：]?"
    r"|\bwith\b\s*+[:：]?|\bcontaining\b\s*+[:：]?|\b(?:that|which)\s++(?:says|contains|reads)\b\s*+[:：]?|\bsaying\b\s*+[:：]?"
    r"|\bcontents?\s*+[:：]"
    r"|(?:文件)?(?:里面|里|其中)?(?:的)?(?:内容|文字|代码)\s*+(?:为|是|写上|写)?\s*+[:：]?"
    r"|(?:文件)?(?:里面|里|其中)?(?:写入|写上|写着|包含)\s*+[:：]?"
    r"|(?:文件)?[:：]|(?=```)"
    r")\s*+",
    re.IGNORECASE,
)
_INTERPRETERS = {".py": "python3", ".sh": "sh", ".js": "node"}
_DEFAULTS: Mapping[str, Mapping[Language, str]] = {
    ".py": {"zh": 'print("你好，Interlock！")\n', "en": 'print("Hello from Interlock!")\n'},
    ".js": {"zh": 'console.log("你好，Interlock！");\n', "en": 'console.log("Hello from Interlock!");\n'},
    ".sh": {"zh": '#!/bin/sh\necho "你好，Interlock！"\n', "en": '#!/bin/sh\necho "Hello from Interlock!"\n'},
    ".json": {"zh": "{}\n", "en": "{}\n"},
    ".md": {"zh": "# {stem}\n\n由 Interlock 演示助手创建。\n", "en": "# {stem}\n\nMade by the Interlock demo agent.\n"},
    ".html": {
        "zh": "<!doctype html>\n<title>{stem}</title>\n<h1>你好，Interlock！</h1>\n",
        "en": "<!doctype html>\n<title>{stem}</title>\n<h1>Hello from Interlock!</h1>\n",
    },
}
_DEFAULT: Mapping[Language, str] = {"zh": "你好，Interlock！\n", "en": "Hello from Interlock!\n"}


def default_content(path: str, language: Language) -> str:
    stem, dot, ending = base_name(path).rpartition(".")
    template = _DEFAULTS.get(f".{ending.lower()}", _DEFAULT)[language] if dot else _DEFAULT[language]
    return template.replace("{stem}", stem or ending)


def unquoted(text: str) -> str:
    text = text.strip()
    if fence := _FENCE.match(text):
        return f"{fence['body']}\n"
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


def _targets(text: str, context: Context) -> list[str]:
    found = [mention.path for mention in mentions(text)]
    if not found and context.last_path and _PRONOUN.search(text):
        return [context.last_path]
    return found


def create(match: re.Match[str], context: Context) -> Calls | None:
    rest = match["rest"]
    found = mentions(rest)
    if not found:
        return None
    content, named = _content_after(rest, found)
    language = context.language
    return tuple(
        Call("write_file", {"path": path, "content": default_content(path, language) if content is None else content})
        for path in named
    )


def _content_after(rest: str, found: list[Mention]) -> tuple[str | None, list[str]]:
    """The text for the files, if one is given, and the files that stand before it."""
    for mention in found:
        mark = _CONTENT_MARK.match(rest, mention.end) or _CONTENT_MARK.match(rest, _skip_noun(rest, mention.end))
        if mark and rest[mark.end() :].strip():
            return unquoted(rest[mark.end() :]), [one.path for one in found if one.start <= mention.start]
    return None, [mention.path for mention in found]


def _skip_noun(rest: str, at: int) -> int:
    noun = re.compile(r"\s*(?:file|文件)?").match(rest, at)
    return noun.end() if noun else at


def write(match: re.Match[str], context: Context) -> Calls | None:
    targets = _targets(match["path"], context)
    content = unquoted(match["content"])
    return (Call("write_file", {"path": targets[0], "content": content}),) if len(targets) == 1 and content else None


def edit(match: re.Match[str], context: Context) -> Calls | None:
    targets = _targets(match["path"], context)
    old, new = unquoted(match["old"]), unquoted(match["new"])
    return (Call("edit_file", {"path": targets[0], "old": old, "new": new}),) if len(targets) == 1 and old else None


def nothing(match: re.Match[str], context: Context) -> Calls | None:
    return None


def each(tool: str) -> Build:
    def build(match: re.Match[str], context: Context) -> Calls | None:
        return tuple(Call(tool, {"path": path}) for path in _targets(match["rest"], context)) or None

    return build


def list_folder(match: re.Match[str], context: Context) -> Calls | None:
    rest = match.groupdict().get("rest") or ""
    found = mentions(rest)
    return (Call("list_files", {"path": found[0].path if found else "."}),)


def run_command(match: re.Match[str], context: Context) -> Calls | None:
    rest = match["rest"].strip()
    ticked = re.findall(r"`([^`\n]+)`", rest)
    if ticked and rest.startswith("`"):
        return tuple(Call("execute", {"command": command.strip()}) for command in ticked)
    if _PRONOUN.fullmatch(rest.rstrip("。.!！")) and context.last_path:
        rest = context.last_path
    command = _clean_command(rest)
    return (Call("execute", {"command": command}),) if command else None


_FENCED_COMMAND = re.compile(r"^```[^\n`]*\n(?P<body>.*?)\n?```$", re.DOTALL)
_POLITE_END = re.compile(r"(?:,?\s*+please|\bfor me|这个命令|命令|吧|一下)?[。！？]*+$", re.IGNORECASE)
_NO_COMMAND = re.compile(r"(?:the|a|an|my|your|some|all|this|that|me|us|through|away|out)\b(?!\.)", re.IGNORECASE)


def _clean_command(rest: str) -> str | None:
    if fenced := _FENCED_COMMAND.match(rest):
        return fenced["body"].strip()
    command = unquoted(_POLITE_END.sub("", rest, count=1))
    # A full stop ends the sentence when it directly follows a word; in "ls ." and "cd .." it belongs to the command.
    command = re.sub(r"(?<=[A-Za-z0-9])\.$", "", command).strip()
    if not re.search(r"[A-Za-z0-9./]", command) or _NO_COMMAND.match(command):
        return None
    ending = re.fullmatch(r"[\w./-]+(\.\w+)", command)
    interpreter = _INTERPRETERS.get(ending[1]) if ending else None
    return f"{interpreter} {command}" if interpreter else command


_COUNTS = {
    **{"one": 1, "a": 1, "two": 2, "couple": 2, "three": 3, "一": 1, "两": 2, "二": 2, "三": 3},
    **{"1": 1, "2": 2, "3": 3},
}


def ask_questions(match: re.Match[str], context: Context) -> Calls:
    counted = re.search(r"\b(one|a|two|couple|three|[123])\b|([一两二三123])\s*[个道]", match[0], re.IGNORECASE)
    word = (counted[1] or counted[2]).lower() if counted else ""
    return (Call("ask_user", asks.questions(context.language, _COUNTS.get(word, asks.MOST_QUESTIONS))),)


def clarify(match: re.Match[str], context: Context) -> Calls:
    return (Call("request_clarification", asks.clarification(context.language)),)


def decide(match: re.Match[str], context: Context) -> Calls:
    return (Call("request_decision", asks.decision(context.language)),)


def need_key(match: re.Match[str], context: Context) -> Calls:
    names = re.findall(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", match.string)
    return (Call("request_env_vars", asks.env_vars(context.language, tuple(dict.fromkeys(names)))),)
