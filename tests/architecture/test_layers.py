"""Every root module of both packages belongs to a layer, and a newcomer finds it in the architecture document."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"interlock": "server", "interlock_client": "client"}


def root_modules(package: str) -> dict[str, str]:
    """By name, how the document writes it."""
    source = ROOT / "packages" / PACKAGES[package] / "src" / package
    files = {path.stem: path.name for path in source.glob("*.py") if path.name != "__init__.py"}
    return files | {path.parent.name: f"{path.parent.name}/" for path in source.glob("*/__init__.py")}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_root_module_belongs_to_a_layer(package: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    (layered,) = (one for one in contracts if one["type"] == "layers" and one["containers"] == [package])
    assert layered["exhaustive"]
    names = [name.strip() for layer in layered["layers"] for name in layer.split("|")]
    assert sorted(names) == sorted(root_modules(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_architecture_names_every_root_module(package: str) -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    assert [name for name in root_modules(package).values() if name not in text] == []


def test_free_json_has_one_name_in_the_core() -> None:
    core = ROOT / "packages" / "server" / "src" / "interlock"
    nameless = re.compile(r"(dict|Mapping)\[str, (Any|object)\]")
    found = [path for room in ("domain", "ports", "services") for path in (core / room).rglob("*.py")]
    assert [path.name for path in found if nameless.search(path.read_text())] == ["json_value.py"]
