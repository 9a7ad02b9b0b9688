"""Finding the files that a sentence speaks of."""

import re
from dataclasses import dataclass

_BARE_NAMES = frozenset({"makefile", "dockerfile", "license", "readme", "changelog", "procfile", "gemfile"})
"""Files that people name without an ending."""

_QUOTED = r"""`[^`\n]+`|"[^"\n]+"|(?<![A-Za-z0-9])'[^'\n]+'|“[^”\n]+”|「[^」\n]+」"""
_TOKEN = r"[A-Za-z0-9_~.+@/-]+"
_NAMED = r"(?:\b(?:called|named)|叫做|名叫|名为|叫)\s*(?P<named>[\w.+@/-]+?)(?=的|文件|[\s,，。:：;；]|$)"
_FOUND = re.compile(rf"(?P<quoted>{_QUOTED})|{_NAMED}|(?P<token>{_TOKEN})", re.IGNORECASE)
_AFTER_FILE = re.compile(r"(?:\bfile|文件)\s+(?P<name>[\w.+@/-]+)", re.IGNORECASE)
_NOT_NAMES = frozenset({"with", "that", "in", "to", "from", "and", "containing", "called", "named", "please", "for"})
_CHINESE_BEFORE = re.compile(r"[\u4e00-\u9fff]+$")
_MEASURE_WORDS = re.compile(
    r"^(?:一个|一份|这个|那个|个|份|新的|新|名为|名叫|叫做|叫|文件|和|与|跟|以及|一下|下|看看|看)+"
)


@dataclass(frozen=True, slots=True)
class Mention:
    path: str
    start: int
    end: int


def mentions(text: str) -> list[Mention]:
    """Every file in `text`, in order; each path once."""
    found = [mention for match in _FOUND.finditer(text) if (mention := _mention(text, match))]
    if not found and (match := _AFTER_FILE.search(text)) and match["name"].lower() not in _NOT_NAMES:
        found = [Mention(match["name"], match.start("name"), match.end("name"))]
    return list({mention.path: mention for mention in reversed(found)}.values())[::-1]


def _mention(text: str, match: re.Match[str]) -> Mention | None:
    if match["quoted"]:
        return Mention(match["quoted"][1:-1].strip(), match.start(), match.end())
    if match["named"]:
        return Mention(match["named"], match.start("named"), match.end())
    path = match["token"].rstrip(".") if not match["token"].endswith("..") else match["token"]
    start = match.start()
    if path.startswith(".") and (before := _CHINESE_BEFORE.search(text[:start])):
        # A Chinese name runs into the words before it: 一个笔记.txt
        name = _MEASURE_WORDS.sub("", before[0])
        path, start = name + path, start - len(name)
    return Mention(path, start, match.end()) if _looks_like_path(path) else None


def _looks_like_path(token: str) -> bool:
    if token.lower() in _BARE_NAMES:
        return True
    return ("/" in token and len(token) > 1) or token == ".." or re.search(r"\.\w", token) is not None


def base_name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
