"""Documents as data: their blocks of code, by language and by what they contain, and a shell to run them in."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8000"
SHELL_SECONDS = 60
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Readme:
    text: str

    def block(self, language: str, containing: str = "") -> str:
        """The one block of that language with that text in it."""
        found = [block for block in self.blocks(language) if containing in block]
        assert len(found) == 1, f"{len(found)} blocks of {language} contain {containing!r}"
        return found[0]

    def blocks(self, language: str) -> list[str]:
        return [match["text"] for match in _BLOCK.finditer(self.text) if match["language"] == language]

    def headings(self) -> list[int]:
        return [len(marks) for marks in re.findall(r"^(#+) ", _BLOCK.sub("", self.text), re.MULTILINE)]

    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)]+)\)", self.text)


ENGLISH = Readme((ROOT / "README.md").read_text())
CHINESE = Readme((ROOT / "README.zh-CN.md").read_text())


def run_shell(script: str, url: str, folder: Path, *, language: str) -> str:
    """Run lines with curl as they stand; only the server's address is another one.

    What the reader's own settings would be is in curl's configuration: the language, and that an error ends it.
    """
    assert ADDRESS in script
    settings = ["fail", "show-error", 'noproxy = "*"', f'header = "Accept-Language: {language}"']
    (folder / ".curlrc").write_text("\n".join(settings))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace(ADDRESS, url)],
        env={**os.environ, "CURL_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
