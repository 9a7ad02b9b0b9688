"""What the pages tell their readers to run is there: commands and options, paths and methods, variables, imports."""

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
from fastapi import FastAPI
from typer.exceptions import TyperException

from interlock.config import Config
from interlock.faces.app import create_app
from interlock.faces.http.guard import AllowedHosts
from interlock.faces.http.server_state import ServerState
from interlock.faces.http.tokens import Tokens
from interlock.faces.web.pages import Pages
from interlock_client.cli.config import CLIENT_VARIABLES
from interlock_client.cli.main import app as command_line
from tests.campaign.settings import DEFAULTS, PREFIX
from tests.support.pages import Command, blocks, commands, inline_commands, name_of, pages

OF_READERS = ("company", "my_agents", "agents")
"""Modules that a reader has, and that are not there."""
OTHER_VARIABLES = {"INTERLOCK_TEST_POSTGRES", *(f"{PREFIX}{name}" for name in DEFAULTS)}


def parse(words: tuple[str, ...]) -> None:
    """Parse them as the command line does, and run nothing; `TyperException` where they are no command."""
    command: Any = typer.main.get_command(command_line)
    rest, name = list(words), "interlock"
    while inner := getattr(command, "commands", None):
        name = rest.pop(0) if rest else ""
        if name not in inner:
            raise TyperException(f"there is no command {name!r}")
        command = inner[name]
    command.make_context(name, rest)


def faults(found: Iterator[Command]) -> list[str]:
    wrong: list[str] = []
    for command in found:
        if command.interlock:
            try:
                parse(command.interlock)
            except TyperException as error:
                wrong.append(f"{command.page}: {command.text}: {error}")
    return wrong


def test_every_interlock_command_of_a_page_parses() -> None:
    assert sum(command.interlock is not None for command in commands()) > 30
    assert faults(commands()) == []


def test_every_interlock_command_in_running_text_names_commands_and_options_that_there_are() -> None:
    wrong: list[str] = []
    for command in inline_commands():
        named: Any = typer.main.get_command(command_line)
        words = list(command.interlock or ())
        while words and (inner := getattr(named, "commands", None)):
            named = inner.get(words.pop(0))
        if named is None:
            wrong.append(f"{command.page}: {command.text}")
            continue
        options = {option for parameter in named.params for option in parameter.opts} | {"--help"}
        given = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
        wrong += [f"{command.page}: {command.text}: {option}" for option in given - options]
    assert wrong == []


def test_what_is_wrong_is_found() -> None:
    for words in (("serve", "--agents", "x"), ("user", "list"), ("users", "role", "ann"), ("keys", "create", "x")):
        with pytest.raises(TyperException):
            parse(words)


@pytest.fixture(scope="module")
def served() -> set[tuple[str, str]]:
    def lifespan(_app: FastAPI) -> AbstractAsyncContextManager[None]:
        raise AssertionError("it is only described here, and not started")

    app = create_app(ServerState(cast("Any", None), Tokens(cast("Any", None))), AllowedHosts(), lifespan, Pages())
    return {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}


def test_every_path_that_a_page_calls_is_served_with_that_method(served: set[tuple[str, str]]) -> None:
    calls = [command for command in commands() if command.words[0] == "curl"]
    assert len(calls) > 20
    wrong = [f"{call.page}: {call.text}" for call in calls if not any(_fits(call, *one) for one in served)]
    assert wrong == []


def _fits(call: Command, method: str, path: str) -> bool:
    address = next((word for word in call.words if re.match(r"http://(127\.0\.0\.1|localhost)", word)), "")
    asked = re.sub(r"^http://[^/]+", "", address).partition("?")[0]
    pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
    return _method(call) == method and re.fullmatch(pattern, asked) is not None


def _method(call: Command) -> str:
    words = call.words
    for flag in ("-X", "--request"):
        if flag in words:
            return words[words.index(flag) + 1]
    return "POST" if {"-d", "--data", "--json"} & set(words) else "GET"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_variable_that_a_page_names_is_read(page: Path) -> None:
    read = {f"INTERLOCK_{field.name.upper()}" for field in fields(Config)} | set(CLIENT_VARIABLES) | OTHER_VARIABLES
    named = set(re.findall(r"INTERLOCK_[A-Z_]*[A-Z](?![A-Z_*])", page.read_text()))
    assert named - read == set()


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_piece_of_python_compiles_and_imports_what_there_is(page: Path) -> None:
    missing: list[str] = []
    for block in blocks(page, "python"):
        tree = _tree(block)
        missing += [name for node in ast.walk(tree) for name in _unresolved(node)]
    assert missing == []


def _tree(block: str) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        return compile(block, "block", "exec", flags)
    except SyntaxError:
        # References write signatures as calls, with what these give.
        call = r"^(?:await )?[\w.]+(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))(?: -> .+)?$"
        return compile(re.sub(call, r"def _\1: ...", block, flags=re.MULTILINE), "block", "exec", flags)


def _unresolved(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names if not _is_there(one.name))
    elif isinstance(node, ast.ImportFrom) and node.module:
        if not _is_there(node.module):
            yield node.module
        elif node.module.partition(".")[0] in ("interlock", "interlock_client"):
            module = importlib.import_module(node.module)
            wanted = [(f"{node.module}.{one.name}", one.name) for one in node.names]
            yield from (whole for whole, name in wanted if not hasattr(module, name) and not _is_there(whole))


def _is_there(name: str) -> bool:
    if name.partition(".")[0] in OF_READERS:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
