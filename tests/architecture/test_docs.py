"""The documents say what the code says: links, variables, commands, paths, event types."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import click
import pytest
import typer.main
from fastapi import FastAPI

from interlock import failpoints
from interlock.config import Config
from interlock.domain.event import EventType
from interlock.faces.app import create_app
from interlock.faces.http.guard import AllowedHosts
from interlock.faces.http.server_state import ServerState
from interlock.faces.http.tokens import Tokens
from interlock.faces.web.pages import Pages
from interlock_client.cli.config import CLIENT_VARIABLES
from interlock_client.cli.main import app as command_line

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
TESTS_ONLY = {"INTERLOCK_TEST_POSTGRES"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Taken apart, so that this file does not contain them.
FORBIDDEN = ["/" + "work/", "shared" + "/spec"]


def documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def repository() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            yield ROOT / name


def anchors(document: Path) -> set[str]:
    """The anchors of its headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    broken: list[str] = []
    for link in LINK.findall(document.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_document_is_reached_from_the_index() -> None:
    linked = {
        (document.parent / link.partition("#")[0]).resolve()
        for document in documents()
        for link in LINK.findall(document.read_text())
    }
    folders = {path for path in linked if path.is_dir()}
    unreached = [path for path in (ROOT / "docs").rglob("*.md") if not {path, path.parent} & (linked | folders)]
    assert [str(path.relative_to(ROOT)) for path in unreached if path.name != "index.md"] == []


def variables() -> set[str]:
    return {f"INTERLOCK_{field.name.upper()}" for field in fields(Config)} | set(CLIENT_VARIABLES)


def rows(document: Path) -> dict[str, tuple[str, str]]:
    """By variable, its flag and default in the tables of settings; each variable has one row."""
    found = re.findall(r"^\| (.*?) ?\| `(INTERLOCK_\w+)` \| (.+?) \| .+ \|$", document.read_text(), re.MULTILINE)
    by_variable = {variable: (flag.strip("` "), default) for flag, variable, default in found}
    assert len(by_variable) == len(found)
    return by_variable


def test_every_variable_has_a_row_in_the_reference_and_every_one_named_there_is_read() -> None:
    reference = REFERENCE / "configuration.md"
    assert set(rows(reference)) == variables()
    assert set(re.findall(r"INTERLOCK_[A-Z_]*[A-Z]", reference.read_text())) - TESTS_ONLY == variables()


def test_the_defaults_in_the_reference_are_those_of_the_code() -> None:
    named = rows(REFERENCE / "configuration.md")
    for field in fields(Config):
        default: object = field.default
        if default in (None, ()):
            continue
        if isinstance(default, bool):
            default = "on" if default else "off"
        elif isinstance(default, float):
            default = f"{default:g}"
        assert named[f"INTERLOCK_{field.name.upper()}"][1] == f"`{default}`", field.name


def test_the_flags_in_the_reference_are_those_of_the_commands() -> None:
    commands = dict(_commands(typer.main.get_command(command_line), "interlock"))
    options = {
        option for name in ("serve", "inbox") for one in commands[f"interlock {name}"].params for option in one.opts
    }
    named = {flag for flag, _ in rows(REFERENCE / "configuration.md").values() if flag}
    assert named == options - {"--user"}


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_readmes_list_ten_settings_as_the_reference_does(readme: str) -> None:
    reference = rows(REFERENCE / "configuration.md")
    listed = rows(ROOT / readme)
    assert len(listed) == 10
    assert list(listed) == list(rows(ROOT / "README.md"))
    for variable, (flag, default) in listed.items():
        assert flag == reference[variable][0]
        if re.fullmatch(r"`[^`]+`", reference[variable][1]):
            assert default == reference[variable][1]


def test_every_failpoint_is_in_the_reference() -> None:
    text = (REFERENCE / "configuration.md").read_text()
    assert [name for name in failpoints.NAMES if f"`{name}`" not in text] == []


def test_every_command_and_option_is_in_the_reference() -> None:
    text = (REFERENCE / "cli.md").read_text()
    commands = dict(_commands(typer.main.get_command(command_line), "interlock"))
    headings = set(re.findall(r"^## `(.+)`$", text, re.MULTILINE))
    assert headings == set(commands)
    for name, command in commands.items():
        section = text.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        assert {option for option in options if option not in section} == set(), name


def _commands(command: Any, name: str) -> Iterator[tuple[str, click.Command]]:
    inner: dict[str, Any] | None = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, one in inner.items():
        yield from _commands(one, f"{name} {word}")


def test_every_path_is_in_the_reference() -> None:
    def lifespan(_app: FastAPI) -> AbstractAsyncContextManager[None]:
        raise AssertionError("it is only described here, and not started")

    served = create_app(ServerState(cast("Any", None), Tokens(cast("Any", None))), AllowedHosts(), lifespan, Pages())
    text = "".join(document.read_text() for document in REFERENCE.glob("*-api.md"))
    paths: dict[str, dict[str, Any]] = served.openapi()["paths"]
    named = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    assert "POST /api/chat/{thread_id}" in named
    assert [name for name in named if f"`{name}`" not in text] == []


def test_every_type_of_event_is_in_the_reference() -> None:
    named = re.findall(r"^\| `([a-z.]+)` \|", (REFERENCE / "events.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(EventType)


def test_nothing_refers_to_the_machine_it_was_written_on() -> None:
    found: list[str] = []
    for path in repository():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {word}" for word in FORBIDDEN if word in text]
    assert found == []


def test_the_architecture_page_names_every_package_and_module_at_the_root() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    source = ROOT / "packages" / "server" / "src" / "interlock"
    names = {f"{one.name}/" for one in source.iterdir() if (one / "__init__.py").is_file()}
    names |= {one.name for one in source.glob("*.py") if not one.name.startswith("__")}
    assert [name for name in sorted(names) if name not in page] == []


def test_every_name_that_the_architecture_page_sends_a_reader_to_is_defined_there() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    rows = re.findall(r"^\|.*\| (`.*\.(?:py|ts)`.*) \| (.*) \|$", page, re.MULTILINE)
    assert rows
    server = "packages/server/src/interlock/"
    for files, names in rows:
        named = re.findall("`(.+?)`", files)
        sources = [ROOT / (one if one.startswith("packages/") else server + one) for one in named]
        text = "\n".join(source.read_text() for source in sources)
        missing = [
            name
            for name in re.findall("`(.+?)`", names)
            if not re.search(rf"^((export |async )*(def|class|function) {name}\b|{name} = )", text, re.M)
        ]
        assert missing == [], files


def test_the_glossary_has_each_term_once_in_alphabetical_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text()
    terms = [term.lower() for term in re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)][1:]
    assert terms == sorted(set(terms))
    assert terms
