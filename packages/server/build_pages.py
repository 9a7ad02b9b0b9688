"""Has the web pages built before they are packed: a wheel without them would be half of the product."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildPages(BuildHookInterface[BuilderConfig]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """`version` is `editable` where the package is used in place, and `make serve` builds the pages."""
        root = Path(self.root)
        if version == "editable":
            return
        if (root.parent / "web").is_dir():
            subprocess.run(["make", "--no-print-directory", "web"], cwd=root.parents[1], check=True)
        if not (root / "src/interlock/faces/web/static/index.html").is_file():
            raise FileNotFoundError("the web pages are not built: build from the repository, or from its sdist")
