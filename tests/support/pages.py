"""The documents as data: every command that a page tells its reader to run, and every piece of Python that it shows."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:\.venv/bin/)?interlock [a-z][^`]*)`")
ADDRESS = "http://127.0.0.1:8000"
"""Where a page that goes on from another one has its server."""
_SHELL_WORDS = ("&&", "||", "|", ";", "&")


@dataclass(frozen=True, slots=True)
class Command:
    page: str
    words: tuple[str, ...]
    block: str = ""
    """All of the block that it stands in; empty for one in running text."""

    @property
    def text(self) -> str:
        return shlex.join(self.words)

    @property
    def interlock(self) -> tuple[str, ...] | None:
        """What the `interlock` command is called with, also inside of a container."""
        program = self.words[0].rpartition("/")[2]
        if program in ("docker", "kubectl") and "exec" in self.words and "interlock" in self.words[2:]:
            return self.words[self.words.index("interlock", self.words.index("exec")) + 1 :]
        return self.words[1:] if program == "interlock" else None


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [found["text"] for found in _BLOCK.finditer(page.read_text()) if found["language"] == language]


def commands() -> Iterator[Command]:
    """Those of shell blocks, one by one; what a block assigns to variables is put in their place."""
    for page in pages():
        known: dict[str, str] = {}
        for block in blocks(page, "bash"):
            for line in block.replace("\\\n", " ").splitlines():
                for words in _split(_substituted(line, known)):
                    while words and (assigned := re.fullmatch(r"([A-Z_]+)=(.*)", words[0], re.DOTALL)):
                        known.setdefault(assigned[1], assigned[2])
                        words = words[1:]
                    if words:
                        yield Command(name_of(page), tuple(words), block)


def inline_commands() -> Iterator[Command]:
    """`interlock ...` in running text, but for forms with brackets and alternatives, which are no commands."""
    for page in pages():
        text = _BLOCK.sub("", page.read_text())
        for found in _INLINE.findall(text):
            if not re.search(r"[\[|…<]", found):
                yield Command(name_of(page), tuple(shlex.split(found)))


def _substituted(line: str, known: dict[str, str]) -> str:
    line = re.sub(r"\$([A-Z_]*URL)\b", lambda found: known.get(found[1], ADDRESS), line)
    # What a substitution prints is not known here; what it runs is a command like any other.
    substitution = r"\$\(((?:[^()]|\([^()]*\))*)\)"
    return " ; ".join([re.sub(substitution, "SUBSTITUTED", line), *re.findall(substitution, line)])


def _split(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in _SHELL_WORDS:
            yield words
            words = []
        else:
            words.append(word)
    yield words
