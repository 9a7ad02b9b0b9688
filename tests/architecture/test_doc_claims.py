"""What the pages claim of the code beside what they tell to run: operations, options, defaults, status codes, files."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
from fastapi import FastAPI
from fastapi.routing import APIRoute

from interlock.faces.app import create_app
from interlock.faces.http.guard import AllowedHosts
from interlock.faces.http.server_state import ServerState
from interlock.faces.http.tokens import Tokens
from interlock.faces.langgraph import assistants, many, protocol, runs, thread_stream, threads
from interlock.faces.web.pages import Pages
from interlock_client.cli.main import app as command_line
from tests.support.pages import ROOT, blocks, name_of, pages

PROTOCOLS = {"POST /mcp", "POST /mcp/g/{}", "GET /mcp/g/{}", "GET /docs", "GET /openapi.json", "GET /"}
"""Served, and not described by /openapi.json."""
OF_OTHERS = {"--approval-mode", "--permission-prompt-tool", "--require-hashes", "--build", "--tools", "--skip-trust"}
"""Options of programs that are not ours."""
EVERYWHERE = {"401", "403", "413", "421", "422", "429", "503"}
"""What the server may answer whatever it is asked."""
OURS = ("interlock", "interlock_client")
REFERENCE = ROOT / "docs" / "reference"
ROW = re.compile(r"^\| `(--[a-z-]+)[^`|]*(?:\\\|[^`|]*)*` \| `([^`]+)`", re.MULTILINE)
"""Of a table of options: one option, and its default in code."""


@pytest.fixture(scope="module")
def described() -> Mapping[str, Any]:
    def lifespan(_app: FastAPI) -> AbstractAsyncContextManager[None]:
        raise AssertionError("it is only described here, and not started")

    app = create_app(ServerState(cast("Any", None), Tokens(cast("Any", None))), AllowedHosts(), lifespan, Pages())
    paths: dict[str, dict[str, Any]] = app.openapi()["paths"]
    return {
        f"{method.upper()} {_unnamed(path)}": one for path, methods in paths.items() for method, one in methods.items()
    }


def _unnamed(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_operation_that_a_page_names_is_served(page: Path, described: Mapping[str, Any]) -> None:
    served = {*described, *PROTOCOLS, *_operations_of_langgraph()}
    named = re.findall(r"`([A-Z]+) (/[^`\s?]*)", page.read_text())
    wrong = [f"{method} {path}" for method, path in named if not _is_served(method, _unnamed(path), served)]
    assert wrong == []


def _operations_of_langgraph() -> Iterator[str]:
    """The description of this API is LangGraph's, and so not in ours."""
    for part in (assistants, many, protocol, runs, thread_stream, threads):
        for route in part.router.routes:
            if isinstance(route, APIRoute):
                yield from (f"{method} {_unnamed(route.path)}" for method in route.methods or ())


def _is_served(method: str, path: str, served: set[str]) -> bool:
    """In full, or without the ids at its end, or without what all paths of its API begin with."""
    ends = f"/api/v1/agent{path}" if path.startswith("/hitl") else path
    literal = re.sub(r"/answer/recall$", "/{}/recall", ends)
    return bool({f"{method} {one}" for one in (literal, f"{literal}/{{}}")} & served)


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*-api.md")), ids=name_of)
def test_every_status_code_in_a_section_is_one_that_its_operation_has(page: Path, described: Mapping[str, Any]) -> None:
    wrong: list[str] = []
    for heading, section in _sections(page.read_text()):
        if (operation := described.get(_unnamed(heading))) is None:
            wrong.append(heading)
            continue
        named = set(re.findall(r"(?<![\w.-])([45]\d\d)(?![\w-]|[.,]\d)", section))
        wrong += [f"{heading}: {code}" for code in named - EVERYWHERE - set(operation["responses"])]
    assert wrong == []


def _sections(text: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^### `([A-Z]+ /\S+)`$", text, flags=re.MULTILINE)[1:]
    for heading, section in zip(parts[::2], parts[1::2], strict=True):
        yield heading, re.split(r"^##? ", section, flags=re.MULTILINE)[0]


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner: dict[str, Any] | None = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, one in (inner or {}).items():
        yield from _commands(one, f"{name} {word}")


def options() -> dict[str, dict[str, Any]]:
    """By command, its options."""
    listed = _commands(typer.main.get_command(command_line), "interlock")
    return {name: {option: one for one in command.params for option in one.opts} for name, command in listed}


def test_the_defaults_of_options_in_the_reference_are_those_of_the_commands() -> None:
    text = (REFERENCE / "cli.md").read_text()
    checked, wrong = 0, list[str]()
    for name, known in options().items():
        section = text.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
        for option, default in re.findall(
            r"^\| `(--[a-z-]+)[^`|]*(?:\\\|[^`|]*)*` \| `([^`]+)`", section, re.MULTILINE
        ):
            is_so = _default(known[option])
            checked += is_so is not None
            if is_so not in (None, default):
                wrong.append(f"{name} {option}: {default}, and is {is_so}")
    assert wrong == []
    assert checked >= 8


def _default(option: Any) -> str | None:
    """None where it has no fixed one."""
    if option.default is not None and not isinstance(option.default, bool):
        return str(option.default)
    told = re.search(r"\[default: ([^\],]+)\]", option.help or "")
    return told[1] if told else None


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_option_in_running_text_is_one_of_a_command(page: Path) -> None:
    known = {option for one in options().values() for option in one} | OF_OTHERS | {"--help", "--version"}
    # Those of the hook and the bridges are read by parsers of their own.
    known |= {word for file in OWN_PARSERS for word in re.findall(r"\"(--[a-z-]+)\"", file.read_text())}
    named = set(re.findall(r"`(--[a-z][a-z-]*[a-z])", page.read_text()))
    assert named - known == set()


CLIENT = ROOT / "packages" / "client" / "src" / "interlock_client"
OWN_PARSERS = [*(CLIENT / "hook").glob("*.py"), *(CLIENT / "bridge").glob("*.py"), CLIENT / "mcp_bridge.py"]


DOCUMENTS = [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_every_file_of_this_repository_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"`((?:packages|tests|docs|examples|deploy|bench)/[^`\s*]+)`", page.read_text())
    assert [name for name in named if not (ROOT / name.partition("::")[0]).exists()] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_name_that_a_piece_of_typescript_imports_of_ours_is_exported(page: Path) -> None:
    source = ROOT / "packages" / "sdk-ts" / "src"
    index = (source / "index.ts").read_text()
    # Of files that are exported as a whole, what they export themselves.
    whole = "".join((source / f"{name}.ts").read_text() for name in re.findall(r"export \* from \"./(\w+).js\"", index))
    exported = {*re.findall(r"\w+", index), *re.findall(r"^export (?:abstract )?\w+ (\w+)", whole, re.MULTILINE)}
    pieces = "".join(block for language in ("ts", "typescript", "js", "javascript") for block in blocks(page, language))
    imports = re.findall(r"import (?:type )?\{([^}]*)\} from \"interlock-client\"", pieces)
    named = {word for one in imports for word in re.findall(r"\w+", one)} - {"type", "as"}
    assert named - exported == set()


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_every_target_of_make_that_a_page_names_is_there(page: Path) -> None:
    targets = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shell = "".join(blocks(page, "bash"))
    named = set(re.findall(r"`make ([a-z][\w-]*)", page.read_text()) + re.findall(r"^make ([a-z][\w-]*)", shell, re.M))
    assert named - targets == set()


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_every_keyword_that_a_piece_of_python_gives_ours_is_taken(page: Path) -> None:
    wrong: list[str] = []
    for block in blocks(page, "python"):
        try:
            tree = compile(block, "block", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError:
            continue  # a signature, which test_doc_commands.py reads
        ours = dict(_imported(tree))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            wrong += [f"{ast.unparse(call.func)}: {name}" for name in _unknown_keywords(call, ours)]
    assert wrong == []


def _imported(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in OURS:
            module = importlib.import_module(node.module or "")
            yield from ((one.asname or one.name, getattr(module, one.name, None)) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, importlib.import_module(one.name)) for one in node.names if one.name in OURS)


def _unknown_keywords(call: ast.Call, ours: Mapping[str, Any]) -> set[str]:
    called = ours.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        called = getattr(ours.get(call.func.value.id), call.func.attr, None)
    if not callable(called):
        return set()
    taken = inspect.signature(called).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    return set() if takes_any else {one.arg for one in call.keywords if one.arg} - set(taken)


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_no_variable_is_almost_one_of_ours(page: Path) -> None:
    words = set(re.findall(r"\bINTERL[A-Z]*_[A-Z]", page.read_text()))
    assert {word for word in words if not word.startswith("INTERLOCK_")} == set()
