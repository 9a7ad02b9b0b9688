"""The catalogue of texts is complete: both languages have the same texts with the same placeholders, and the code's."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from interlock.texts import CATALOGUE, LOCALES, Locale
from interlock_client._wording import TEXTS as CLIENT_TEXTS
from interlock_client.confirm import ErrorTypes

SOURCE = Path(__file__).parents[2] / "packages/server/src/interlock"
COMMANDS = Path(__file__).parents[2] / "packages/client/src/interlock_client/cli"
PAGES = Path(__file__).parents[2] / "packages/web/src"
CHINESE = re.compile(r"[\u3400-\u9fff]")
NOT_TEXTS = {
    "agents/demo/commands.py": "what people write to the demo agent",
    "agents/demo/wishes.py": "what people write to the demo agent",
    "agents/demo/workspace.py": "a file that is in both languages at once",
    "domain/kinds/free_answers.py": "what people answer",
    "domain/summary.py": "names that arguments may have",
}
FEWER_VALUES = {("hitl", "too_many_open")}
"""The Chinese text does not repeat the detail, which is in English: clients have it so."""
BANNED = {
    "en": r"(?i)as the machine|said so\b|\bhand(ed|s)? over\b|as long as it takes",
    "zh": "机器(看|读)到|这么说|移交|多久都(行|可以)",
}
"""Words that an editor took out: nobody says them, or they say what is not so."""
KEYS = [(section, key) for section, texts in CATALOGUE["en"].items() for key in texts]


FACE = re.compile(r'^SOURCE = "(\w+)"', re.MULTILINE)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_texts() -> None:
    assert set(CATALOGUE) == set(LOCALES)
    for locale in LOCALES:
        found = [(section, key) for section, texts in CATALOGUE[locale].items() for key in texts]
        assert found == KEYS
        assert all(text.strip() for texts in CATALOGUE[locale].values() for text in texts.values())


@pytest.mark.parametrize(("section", "key"), [key for key in KEYS if key not in FEWER_VALUES])
def test_a_text_has_the_same_placeholders_in_both_languages(section: str, key: str) -> None:
    english, chinese = (placeholders(CATALOGUE[locale][section][key]) for locale in LOCALES)
    assert english == chinese


@pytest.mark.parametrize("key", CLIENT_TEXTS)
def test_a_text_of_the_client_is_in_both_languages(key: str) -> None:
    english, chinese = (CLIENT_TEXTS[key][locale] for locale in LOCALES)
    assert placeholders(english) == placeholders(chinese)


@pytest.mark.parametrize("locale", LOCALES)
def test_no_text_has_words_that_nobody_says(locale: Locale) -> None:
    own = [text for texts in CATALOGUE[locale].values() for text in texts.values()]
    texts = [*own, *(texts[locale] for texts in CLIENT_TEXTS.values()), *terminal_texts()]
    assert [text for text in texts if re.search(BANNED[locale], text)] == []


def terminal_texts() -> Iterator[str]:
    """What the commands say, in English only."""
    for path in sorted(COMMANDS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("texts/"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def sections_in(module: ast.Module) -> dict[str, str]:
    """The functions of the catalogue that a module imports, by the name it gives them."""
    return {
        alias.asname or alias.name: alias.name.removesuffix("_text")
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module == "interlock.texts"
        for alias in node.names
        if alias.name.endswith("_text") and alias.name != "has_text"
    }


def test_every_text_that_the_code_names_is_there() -> None:
    named: list[tuple[str, str]] = []
    for _, module in modules():
        sections = sections_in(module)
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in sections:
                key = node.args[0]
                if isinstance(key, ast.Constant):
                    named.append((sections[node.func.id], str(key.value)))
    assert len(named) > 40
    assert set(named) <= set(KEYS)


def test_every_text_is_used() -> None:
    # The confirm face names its texts by the wire's own types of errors.
    words = {str(one) for one in ErrorTypes}
    beginnings: set[str] = set()
    for _, module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                beginnings.add(str(node.values[0].value))
    prefixes = tuple(one for one in beginnings if re.fullmatch(r"[a-z_]+\.(?:[a-z_]+\.)*", one))
    assert [key for _, key in KEYS if key not in words and not key.startswith(prefixes)] == []


def test_chinese_texts_are_in_the_catalogue_alone() -> None:
    found = {
        name
        for name, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CHINESE.search(node.value)
    }
    assert found == set(NOT_TEXTS)


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("history/filters.ts", '"{}"'),
        ("history/messages.ts", "    {}: "),
        ("request/ended.ts", '"{}"'),
        ("request/texts/states.ts", "    {}: "),
    ],
)
def test_the_pages_have_words_for_every_face_that_somebody_answers_on(page: str, form: str) -> None:
    faces = {face for path in SOURCE.rglob("*.py") for face in FACE.findall(path.read_text(encoding="utf-8"))}
    words = (PAGES / page).read_text(encoding="utf-8")
    assert len(faces) >= 8
    assert [face for face in sorted(faces) if form.format(face) not in words] == []
