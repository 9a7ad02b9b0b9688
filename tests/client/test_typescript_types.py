"""The TypeScript SDK speaks of the wire as the models do."""

import importlib.util
from pathlib import Path
from types import ModuleType

from interlock_client import errors

SDK = Path(__file__).parents[2] / "packages" / "sdk-ts"


def generator() -> ModuleType:
    path = SDK / "scripts" / "generate_types.py"
    spec = importlib.util.spec_from_file_location("generate_types", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_are_those_of_the_models() -> None:
    script = generator()
    for file in script.TARGETS:
        written = (script.SOURCES / file).read_text()
        assert script.generate(file) == written, "run packages/sdk-ts/scripts/generate_types.py"


def test_every_code_is_the_same_error_in_both_languages() -> None:
    written = (SDK / "src" / "errors.ts").read_text()
    missing = [code for code, kind in errors.ERRORS.items() if f"  {code}: {kind.__name__}," not in written]
    assert missing == []


def test_every_status_is_the_same_error_in_both_languages() -> None:
    written = (SDK / "src" / "errors.ts").read_text()
    missing = [status for status, kind in errors.STATUSES.items() if f"  {status}: {kind.__name__}," not in written]
    assert missing == []
